package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// MappingKey is the key under which a launcher says which rank runs on which
// node.
const MappingKey = "PMI_process_mapping"

// maxNodes bounds node numbers, counts and ranks in a mapping, so that no sum
// or product below overflows an int of 32 bits.
const maxNodes = 1 << 24

// A Block places ranks in order: PerNode of them on node First, as many on the
// next, and so on for Nodes nodes.
type Block struct{ First, Nodes, PerNode int }

// A Mapping is the parsed value of [MappingKey]. Its blocks place ranks 0, 1,
// … in order and start over until all ranks of the job are placed.
type Mapping []Block

// ParseMapping reads a value such as "(vector,(0,1,2),(1,1,1))".
func ParseMapping(text string) (Mapping, error) {
	bad := func(reason string) (Mapping, error) {
		return nil, fmt.Errorf("pmi: %s %s: %s; want (vector,(first node,nodes,ranks per node),…)", MappingKey, quote(text), reason)
	}
	body, ok := strings.CutPrefix(text, "(vector")
	if !ok {
		return bad("does not start with (vector")
	}
	body, ok = strings.CutSuffix(body, ")")
	if !ok {
		return bad("does not end with )")
	}
	var m Mapping
	for body != "" {
		rest, ok := strings.CutPrefix(body, ",(")
		if !ok {
			return bad("a block does not start with ,(")
		}
		triple, rest, ok := strings.Cut(rest, ")")
		if !ok {
			return bad("a block does not end with )")
		}
		block, err := parseBlock(triple)
		if err != nil {
			return bad(err.Error())
		}
		m = append(m, block)
		body = rest
	}
	if len(m) == 0 {
		return bad("no block")
	}
	return m, nil
}

func parseBlock(triple string) (Block, error) {
	var n [3]int
	fields := strings.Split(triple, ",")
	if len(fields) != len(n) {
		return Block{}, fmt.Errorf("(%s) has %d numbers", triple, len(fields))
	}
	for i, low := range [3]int{0, 1, 1} {
		value, err := strconv.Atoi(fields[i])
		if err != nil || value < low || value > maxNodes {
			return Block{}, fmt.Errorf("%s in (%s) is not a whole number from %d to %d", quote(fields[i]), triple, low, maxNodes)
		}
		n[i] = value
	}
	return Block{First: n[0], Nodes: n[1], PerNode: n[2]}, nil
}

// String returns the text that ParseMapping reads.
func (m Mapping) String() string {
	var b strings.Builder
	b.WriteString("(vector")
	for _, k := range m {
		fmt.Fprintf(&b, ",(%d,%d,%d)", k.First, k.Nodes, k.PerNode)
	}
	b.WriteByte(')')
	return b.String()
}

// placed returns how many ranks one pass over the blocks places, or limit if
// that is less.
func (m Mapping) placed(limit int) int {
	total := 0
	for _, b := range m {
		total += b.ranks(limit - total)
	}
	return total
}

// Node returns the node of a rank.
func (m Mapping) Node(rank int) int {
	rank %= m.placed(rank + 1)
	for _, b := range m {
		if here := b.ranks(rank + 1); rank >= here {
			rank -= here
			continue
		}
		return b.First + rank/b.PerNode
	}
	return 0 // not reached: the blocks place more than rank ranks
}

// ranks returns how many ranks the block places, or limit if that is less.
func (b Block) ranks(limit int) int {
	return int(min(uint64(b.Nodes)*uint64(b.PerNode), uint64(limit)))
}

// Local returns a rank's place among the ranks of its node in a job of size
// ranks, and how many they are.
func (m Mapping) Local(rank, size int) (index, count int) {
	node := m.Node(rank)
	for r := range size {
		if m.Node(r) == node {
			if r < rank {
				index++
			}
			count++
		}
	}
	return index, count
}
