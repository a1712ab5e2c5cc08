package coll

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Where ranks take turns on the processors the algorithms are those with the fewest rounds, up to other lengths.
func TestChoiceInACrowd(t *testing.T) {
	sum := Op{Size: 8, Commutative: true}
	for _, tc := range []struct {
		length, n                               int
		crowded                                 bool
		barrier, allreduce, allgather, alltoall string
	}{
		{8, 4, false, "dissemination", "doubling", "doubling", "spread"},
		{8, 4, true, "dissemination", "tree", "doubling", "bruck"},
		{8, 8, false, "dissemination", "doubling", "doubling", "bruck"},
		{8, 8, true, "tree", "tree", "doubling", "bruck"},
		{1 << 10, 4, true, "dissemination", "tree", "doubling", "bruck"},
		{4 << 10, 4, true, "dissemination", "tree", "doubling", "spread"},
		{8 << 10, 8, true, "tree", "tree", "doubling", "bruck"},
		{16 << 10, 8, true, "tree", "tree", "doubling", "spread"},
		{64 << 10, 8, false, "dissemination", "rabenseifner", "ring", "pairwise"},
		{64 << 10, 8, true, "tree", "tree", "doubling", "spread"},
		{64 << 10, 6, true, "dissemination", "tree", "ring", "spread"},
		{1 << 20, 8, false, "dissemination", "ring", "ring", "pairwise"},
		{1 << 20, 8, true, "tree", "tree", "doubling", "pairwise"},
		{2 << 20, 8, true, "tree", "rabenseifner", "doubling", "pairwise"},
	} {
		teams := &Teams{Places: placed(0, tc.n, tc.crowded)}
		var ch *Choice
		require.Equal(t, tc.barrier, ch.barrier(tc.n, teams), tc)
		require.Equal(t, tc.allreduce, ch.allreduce(tc.length, tc.n, sum, teams), tc)
		require.Equal(t, tc.allgather, ch.allgather(tc.length, tc.n, tc.crowded), tc)
		require.Equal(t, tc.alltoall, ch.alltoall(tc.length, tc.n, teams), tc)
	}
	near := &Teams{Places: placed(0, 8, true)}
	near.Places.ByMemory = true
	require.Equal(t, "rabenseifner", (*Choice)(nil).allreduce(1<<20, 8, sum, near))
	require.Equal(t, "spread", (*Choice)(nil).alltoall(8<<10, 8, near), "messages by memory cost less than to pack them")
}
