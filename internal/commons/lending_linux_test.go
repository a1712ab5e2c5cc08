package commons

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Ranks read what others lend, wherever it is, once all of them have found out that they can.
func TestLoans(t *testing.T) {
	all := memories(t, 3, shortRoom)
	for _, m := range all {
		assert.ErrorContains(t, m.TryLoans(), "does not let others read its memory")
		assert.False(t, m.Lends())
	}
	for _, m := range all {
		m.OfferLoans()
	}
	long := make([]byte, 2*maxRead+5)
	for i := range long {
		long[i] = byte(i % 251)
	}
	for _, m := range all {
		require.NoError(t, m.TryLoans())
		require.True(t, m.Lends())
		to := make([]byte, len(long))
		require.NoError(t, m.Read((m.own+1)%3, m.Address(long), to))
		assert.Equal(t, long, to)
		require.NoError(t, m.Read((m.own+2)%3, m.Address(long[7:]), to[:1]))
		assert.Equal(t, byte(7), to[0])
		m.RefuseLoans()
		assert.False(t, m.Lends())
	}
}

// What a rank has lent that leaves a call early is not what it was.
func TestLoansOfWhoHasLeft(t *testing.T) {
	all := memories(t, 2, shortRoom)
	assert.False(t, all[0].HasLeft(1))
	all[1].Leave()
	assert.True(t, all[0].HasLeft(1))
	assert.False(t, all[1].HasLeft(0))
}

// A rank that says nonsense of its memory is not read from.
func TestLoansOfSomebodyElse(t *testing.T) {
	all := memories(t, 2, shortRoom)
	all[0].OfferLoans()
	all[1].OfferLoans()
	all[1].word(all[1].lender(1) + lenderMark).Add(1)
	assert.ErrorContains(t, all[0].TryLoans(), "rank 1: reading the memory of process")
	assert.False(t, all[0].Lends())
}
