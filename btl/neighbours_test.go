package btl

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProcessors(t *testing.T) {
	var p Processors
	for _, n := range []int{-1, mostProcessors, 1 << 30} {
		p.Add(n)
		require.False(t, p.Has(n))
	}
	require.Zero(t, p)
	for _, n := range []int{0, 63, 64, mostProcessors - 1} {
		require.False(t, p.Has(n))
		p.Add(n)
		require.True(t, p.Has(n))
	}
	require.False(t, p.Has(1))
}
