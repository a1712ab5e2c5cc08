package commons

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A place has room for 40 bits of a step's number. A program that makes a million steps a second has used them up in 13 days.
func TestStepsGoOnWhereTheirNumbersComeRound(t *testing.T) {
	all := memories(t, 2, shortRoom)
	const start = 1<<(64-lengthBits) - 3*shortDepth
	for _, m := range all {
		m.now.step, m.now.past = start, start-1
		m.word(m.now.dones + m.own*line).Store(start - 1)
	}
	for i := range 6 * shortDepth {
		for _, m := range all {
			m.Begin(8, 40)
			require.Negative(t, m.Reader(), "step %d", i)
			m.Place(1)[0] = byte(i)
			m.Show(1, false)
		}
		for _, m := range all {
			require.True(t, m.Has(1-m.own, Shown), "step %d", i)
			b, _, err := m.Look(1 - m.own)
			require.NoError(t, err)
			require.Equal(t, []byte{byte(i)}, b)
			m.End()
		}
	}
}

// Calls that go on by themselves count too, and make none by memory: the first call that does so may have any number.
func TestWhoHasBegunNothingIsNotBeyond(t *testing.T) {
	all := memories(t, 2, shortRoom)
	for _, call := range []uint64{32, 1<<31 - 1, 1<<31 + 32, 1<<32 - 1} {
		all[0].Begin(8, call)
		assert.False(t, all[0].Beyond(1), "call %d", call)
	}
	all[1].Begin(8, 1<<32-1)
	all[0].Begin(8, 1<<31+32)
	assert.True(t, all[0].Beyond(1))
}
