package pmi

import (
	"errors"
	"fmt"
	"iter"
	"strconv"
	"strings"
)

// MappingKey is the key under which a launcher says which rank runs on which
// node.
const MappingKey = "PMI_process_mapping"

// ErrMapping: the value of MappingKey is written in another way.
var ErrMapping = errors.New("pmi: is no list of nodes")

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

// A block is some nodes, one after the other, with as many ranks each.
type block struct{ first, nodes, each int }

// OnNode reads from a mapping how many of a job's ranks run on the node of one of them. Hydra's mapping may be shorter
// than the job: it then begins anew.
func OnNode(mapping string, rank, size int) (n int, err error) {
	blocks, err := parseMapping(mapping)
	if err != nil {
		return 0, err
	}
	own, before := 0, 0
	for node, ranks := range rows(blocks, size) {
		if before += ranks; rank < before {
			own = node
			break
		}
	}
	for node, ranks := range rows(blocks, size) {
		if node == own {
			n += ranks
		}
	}
	return n, nil
}

// rows are the nodes in the order of the ranks, with how many of these follow each other there.
func rows(blocks []block, size int) iter.Seq2[int, int] {
	return func(yield func(node, ranks int) bool) {
		for left := size; ; {
			for _, b := range blocks {
				for i := range b.nodes {
					ranks := min(b.each, left)
					if ranks == 0 || !yield(b.first+i, ranks) {
						return
					}
					left -= ranks
				}
			}
		}
	}
}

// parseMapping reads what mapping writes.
func parseMapping(text string) ([]block, error) {
	wrong := fmt.Errorf("%w: %s=%s", ErrMapping, MappingKey, quote(text))
	list, begins := strings.CutPrefix(text, "(vector,(")
	list, ends := strings.CutSuffix(list, "))")
	if !begins || !ends {
		return nil, wrong
	}
	var blocks []block
	for part := range strings.SplitSeq(list, "),(") {
		var numbers [3]int
		fields := strings.Split(part, ",")
		if len(fields) != len(numbers) {
			return nil, wrong
		}
		for i, field := range fields {
			n, err := strconv.Atoi(field)
			if err != nil || n < min(i, 1) || n > MaxRanks {
				return nil, wrong
			}
			numbers[i] = n
		}
		blocks = append(blocks, block{numbers[0], numbers[1], numbers[2]})
	}
	return blocks, nil
}
