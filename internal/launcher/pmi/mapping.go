package pmi

import (
	"fmt"
	"strings"
)

// MappingKey is the key under which a launcher says which rank runs on which
// node.
const MappingKey = "PMI_process_mapping"

// mapping writes which node each rank runs on: a list of blocks, each the number of its first
// node, how many nodes it has, and how many ranks are on each of them.
func mapping(nodes []int) string {
	var b strings.Builder
	b.WriteString("(vector")
	for at := 0; at < len(nodes); {
		each := rowOf(nodes[at:])
		first, count := nodes[at], 0
		for at < len(nodes) && nodes[at] == first+count && rowOf(nodes[at:]) == each {
			at += each
			count++
		}
		fmt.Fprintf(&b, ",(%d,%d,%d)", first, count, each)
	}
	b.WriteString(")")
	return b.String()
}

// rowOf counts the ranks at the beginning that share a node.
func rowOf(nodes []int) int {
	n := 1
	for n < len(nodes) && nodes[n] == nodes[0] {
		n++
	}
	return n
}

// Place says which node each rank runs on: nodes are numbered from 0. Without it all run on one.
// Call it before Serve. A text that is too long for the ranks to read is left out.
func (s *Server) Place(nodes []int) {
	text := mapping(nodes)
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(text) >= valueMax {
		delete(s.values, MappingKey)
		return
	}
	s.values[MappingKey] = text
}
