package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestGroups(t *testing.T) {
	for _, c := range []struct {
		name     string
		group    *Group
		world    []int
		computed bool
	}{
		{"the world", ConsecutiveGroup(0, 4), []int{0, 1, 2, 3}, true},
		{"offset", NewGroup([]int32{5, 6, 7}), []int{5, 6, 7}, true},
		{"one", NewGroup([]int32{9}), []int{9}, true},
		{"with gaps", NewGroup([]int32{1, 3, 5}), []int{1, 3, 5}, false},
		{"backwards", NewGroup([]int32{2, 1, 0}), []int{2, 1, 0}, false},
		{"rotated", NewGroup([]int32{1, 2, 0}), []int{1, 2, 0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := c.group
			require.Equal(t, len(c.world), g.Size())
			assert.Equal(t, c.computed, g.world == nil && g.ranks == nil)
			member := make(map[int]bool)
			for rank, world := range c.world {
				member[world] = true
				assert.Equal(t, world, g.World(rank))
				assert.Equal(t, rank, g.Rank(world))
				assert.NoError(t, g.check(rank))
			}
			for world := -2; world < 12; world++ {
				if !member[world] {
					assert.Equal(t, -1, g.Rank(world), "world rank %d", world)
				}
			}
			for _, rank := range []int{-3, -2, -1, len(c.world), len(c.world) + 1, 1 << 30} {
				assert.ErrorIs(t, g.check(rank), ErrRank)
			}
		})
	}
	assert.EqualError(t, ConsecutiveGroup(0, 4).check(4), "bad rank: 4 is not in 0 to 3")
}

func TestGroupProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		world := rapid.SliceOfNDistinct(rapid.Int32Range(0, 1000), 1, -1, rapid.ID[int32]).Draw(t, "world")
		g := NewGroup(world)
		require.Equal(t, len(world), g.Size())
		for rank, w := range world {
			require.Equal(t, int(w), g.World(rank))
			require.Equal(t, rank, g.Rank(int(w)))
		}
	})
}
