package match

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A queue is held against a slice, with the places counted from shortly before
// they wrap around or from 0.
func TestQueueIsAList(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		start := rapid.SampledFrom([]uint64{0, 1<<64 - 20}).Draw(t, "start")
		q := messageQueue{kind: ofAnySource, head: start, tail: start}
		var want []*Message
		for range rapid.IntRange(0, 300).Draw(t, "steps") {
			if len(want) == 0 || rapid.Bool().Draw(t, "append") {
				m := &Message{}
				q.append(m)
				want = append(want, m)
			} else {
				i := rapid.IntRange(0, len(want)-1).Draw(t, "index")
				q.remove(want[i])
				want = slices.Delete(want, i, i+1)
			}
			var got []*Message
			for place := q.head; place != q.tail; place++ {
				if m := *q.at(place); m != nil {
					got = append(got, m)
				}
			}
			require.Equal(t, len(want), q.live)
			require.Equal(t, want, append([]*Message{}, got...)[:len(got):len(got)])
			if len(want) == 0 {
				require.Nil(t, q.first())
			} else {
				require.Same(t, want[0], q.first())
			}
		}
	})
}

// What was taken out is not kept, and what passes through does not make the ring
// grow, even past a message that stays.
func TestQueueForgets(t *testing.T) {
	var q messageQueue
	stays := &Message{}
	q.append(stays)
	for range 10_000 {
		m := &Message{}
		q.append(m)
		q.remove(m)
	}
	require.Len(t, q.ring, minRing)
	require.Same(t, stays, q.first())
	q.remove(stays)
	require.Equal(t, make([]*Message, minRing), q.ring)
}
