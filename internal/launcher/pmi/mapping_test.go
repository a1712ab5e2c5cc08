package pmi

import (
	"fmt"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMapping(t *testing.T) {
	for want, nodes := range map[string][]int{
		"(vector,(0,1,1))":         {0},
		"(vector,(0,1,4))":         {0, 0, 0, 0},
		"(vector,(0,4,1))":         {0, 1, 2, 3},
		"(vector,(0,2,3))":         {0, 0, 0, 1, 1, 1},
		"(vector,(0,1,3),(1,1,1))": {0, 0, 0, 1},
		"(vector,(0,2,1),(0,2,1))": {0, 1, 0, 1},
	} {
		assert.Equal(t, want, mapping(nodes))
	}
}

// What is written, read as MPICH reads it, says where each rank is.
func TestMappingReadsBack(t *testing.T) {
	block := regexp.MustCompile(`\((\d+),(\d+),(\d+)\)`)
	rapid.Check(t, func(t *rapid.T) {
		nodes := rapid.SliceOfN(rapid.IntRange(0, 4), 1, 30).Draw(t, "nodes")
		var read []int
		for _, m := range block.FindAllStringSubmatch(mapping(nodes), -1) {
			var n [3]int
			for i := range n {
				n[i], _ = strconv.Atoi(m[i+1])
			}
			for node := range n[1] {
				for range n[2] {
					read = append(read, n[0]+node)
				}
			}
		}
		require.Equal(t, nodes, read, fmt.Sprint(mapping(nodes)))
		rank, beside := rapid.IntRange(0, len(nodes)-1).Draw(t, "rank"), 0
		for _, node := range nodes {
			if node == nodes[rank] {
				beside++
			}
		}
		got, err := OnNode(mapping(nodes), rank, len(nodes))
		require.NoError(t, err)
		require.Equal(t, beside, got)
	})
}

func TestOnNode(t *testing.T) {
	for _, c := range []struct {
		mapping          string
		rank, size, want int
	}{
		{"(vector,(0,1,1))", 3, 4, 4}, // as Hydra has it
		{"(vector,(0,2,1))", 2, 5, 3},
		{"(vector,(0,2,1))", 3, 5, 2},
		{"(vector,(0,2,3),(7,1,1))", 6, 7, 1},
		{"(vector,(0,1,16777216))", 1, 2, 2},
	} {
		n, err := OnNode(c.mapping, c.rank, c.size)
		require.NoError(t, err)
		assert.Equal(t, c.want, n, c.mapping)
	}
	for _, bad := range []string{"", "(vector)", "(vector,())", "(vector,(0,1))", "(vector,(0,0,1))", "(vector,(0,1,0))", "(vector,(-1,1,1))", "(vector,(0,1,1)", "(vector,(0,1,99999999999999999999))"} {
		_, err := OnNode(bad, 0, 2)
		assert.ErrorContains(t, err, "is no list of nodes", bad)
	}
}

// Ranks on hosts of their own are not told that they share one.
func TestPlace(t *testing.T) {
	j := newJob(t, 2)
	j.Place([]int{0, 1})
	j.init(t)
	mapping, err := j.clients[1].Get(t.Context(), MappingKey)
	require.NoError(t, err)
	assert.Equal(t, "(vector,(0,2,1))", mapping)
}
