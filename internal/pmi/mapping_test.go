package pmi

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMapping(t *testing.T) {
	for _, tc := range []struct {
		text  string
		nodes []int // of rank 0, 1, …
	}{
		{"(vector,(0,1,4))", []int{0, 0, 0, 0}},
		{"(vector,(0,2,2))", []int{0, 0, 1, 1}},
		{"(vector,(0,1,2),(1,1,1),(2,1,3))", []int{0, 0, 1, 2, 2, 2, 0, 0}}, // Hydra: -hosts a:2,b:1,c:3 -n 8
		{"(vector,(5,1,1))", []int{5, 5}},
		{"(vector,(0,16777216,16777216),(1,16777216,16777216))", []int{0, 0}},
	} {
		m, err := ParseMapping(tc.text)
		require.NoError(t, err, tc.text)
		assert.Equal(t, tc.text, m.String())
		for rank, node := range tc.nodes {
			assert.Equal(t, node, m.Node(rank), "%s rank %d", tc.text, rank)
		}
	}
}

func TestMappingLocal(t *testing.T) {
	m, err := ParseMapping("(vector,(0,1,2),(1,1,1),(2,1,3))")
	require.NoError(t, err)
	index, count := m.Local(7, 8)
	assert.Equal(t, [2]int{3, 4}, [2]int{index, count}, "ranks 0, 1, 6, 7 share node 0")
	index, count = m.Local(2, 8)
	assert.Equal(t, [2]int{0, 1}, [2]int{index, count})
}

func TestMappingRefuses(t *testing.T) {
	for _, text := range []string{
		"", "(vector", "(vector)", "()", "vector,(0,1,1)", "(vector,(0,1,1)", "(vector,(0,1))", "(vector,(0,1,1,1))",
		"(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(a,1,1))", "(vector,(0,1,1)x)", "(vector,(0,1,1),)",
		"(vector,(0,99999999999999999999,1))", "(vector,(0,16777217,1))", "(vector, (0,1,1))", "(arg,(0,1,1))",
	} {
		_, err := ParseMapping(text)
		assert.ErrorContains(t, err, MappingKey, "%q", text)
	}
}

// TestMappingPlacesAll compares Node and Local with a mapping played out rank
// by rank.
func TestMappingPlacesAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(1, 4)
		m := Mapping(rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Block {
			return Block{First: rapid.IntRange(0, 5).Draw(t, "first"), Nodes: number.Draw(t, "nodes"), PerNode: number.Draw(t, "ranks")}
		}), 1, 4).Draw(t, "blocks"))
		size := rapid.IntRange(1, 60).Draw(t, "size")

		var nodes []int
		for len(nodes) < size {
			for _, b := range m {
				for node := range b.Nodes {
					for range b.PerNode {
						nodes = append(nodes, b.First+node)
					}
				}
			}
		}
		seen := make(map[int]int)
		for rank, node := range nodes[:size] {
			if got := m.Node(rank); got != node {
				t.Fatalf("%v: rank %d is on node %d, not %d", m, rank, node, got)
			}
			if index, _ := m.Local(rank, size); index != seen[node] {
				t.Fatalf("%v: rank %d is number %d of its node, not %d", m, rank, seen[node], index)
			}
			seen[node]++
		}
		for rank, node := range nodes[:size] {
			if _, count := m.Local(rank, size); count != seen[node] {
				t.Fatalf("%v: rank %d has %d on its node, not %d", m, rank, seen[node], count)
			}
		}
	})
}

func FuzzParseMapping(f *testing.F) {
	f.Add("(vector,(0,1,2),(1,1,1),(2,1,3))", 7)
	f.Add("(vector,(0,16777216,16777216))", 1<<30)
	f.Fuzz(func(t *testing.T, text string, rank int) {
		m, err := ParseMapping(text)
		if err != nil {
			return
		}
		again, err := ParseMapping(m.String())
		require.NoError(t, err)
		require.Equal(t, m, again)
		if rank >= 0 && rank < MaxRanks {
			require.GreaterOrEqual(t, m.Node(rank), 0)
		}
	})
}
