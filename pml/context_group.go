package pml

import "fmt"

// A Group maps the ranks of a communicator to ranks of the world. A group whose
// ranks are consecutive in the world is computed and costs nothing; any other
// has tables, which its duplicates share. Groups are immutable.
type Group struct {
	size  int
	first int           // rank 0's world rank, if consecutive
	world []int32       // world rank by rank; nil if consecutive
	ranks map[int32]int // rank by world rank; nil if consecutive
}

// ConsecutiveGroup has size ranks, which are first, first+1, … in the world.
func ConsecutiveGroup(first, size int) *Group { return &Group{first: first, size: size} }

// NewGroup makes a group of the world ranks given, which it keeps. They differ
// from each other.
func NewGroup(world []int32) *Group {
	consecutive := true
	for i, w := range world {
		consecutive = consecutive && w == world[0]+int32(i)
	}
	if consecutive && len(world) > 0 {
		return ConsecutiveGroup(int(world[0]), len(world))
	}
	g := &Group{size: len(world), world: world, ranks: make(map[int32]int, len(world))}
	for i, w := range world {
		g.ranks[w] = i
	}
	return g
}

// Size returns the number of ranks.
func (g *Group) Size() int { return g.size }

// World returns the world rank of a rank from 0 to Size−1.
func (g *Group) World(rank int) int {
	if g.world == nil {
		return g.first + rank
	}
	return int(g.world[rank])
}

// Rank returns the rank of a world rank, or −1 if it is not in the group.
func (g *Group) Rank(world int) int {
	if g.world == nil {
		if r := world - g.first; r >= 0 && r < g.size {
			return r
		}
		return -1
	}
	if r, ok := g.ranks[int32(world)]; ok {
		return r
	}
	return -1
}

// check reports an error unless rank is one of the group's.
func (g *Group) check(rank int) error {
	if uint(rank) < uint(g.size) {
		return nil
	}
	return fmt.Errorf("%w: %d is not in 0 to %d", ErrRank, rank, g.size-1)
}
