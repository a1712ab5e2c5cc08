package pml

import (
	"cmp"
	"math"
	"slices"

	"github.com/strandmp/strand/pml/match"
)

// idSet remembers which contexts were freed. What still comes for one is dropped, and does not
// wait for the context to be made. Ids are given out one after the other, so those that were
// freed mostly fill rows of 64, and rows join to a few spans. In a row that is not full there are ids of
// communicators that are in use, or of which this process is no member: their number bounds the
// size of the set. Programs that make the same groups over and over free a part of each row for ever: such a row takes some 20 bytes.
type idSet struct {
	rows  map[uint64]uint64 // those that have some: a bit for each id, by the id of the first / 64
	spans []rowSpan         // those that are full, in order; there is a gap between any two
}

// rowSpan is the rows from first to last.
type rowSpan struct{ first, last uint64 }

// rowOf is the row of an id, and its bit there.
func rowOf(id uint64) (row, bit uint64) { return id / 64, 1 << (id % 64) }

// find returns the place of the span that has the row, or of the first beyond it.
func (s *idSet) find(row uint64) (place int, found bool) {
	return slices.BinarySearchFunc(s.spans, row, func(sp rowSpan, row uint64) int {
		if sp.first <= row && row <= sp.last {
			return 0
		}
		return cmp.Compare(sp.first, row)
	})
}

func (s *idSet) has(id uint64) bool {
	row, bit := rowOf(id)
	if s.rows[row]&bit != 0 {
		return true
	}
	_, found := s.find(row)
	return found
}

func (s *idSet) add(id uint64) {
	if s.has(id) {
		return
	}
	if s.rows == nil {
		s.rows = make(map[uint64]uint64)
	}
	row, bit := rowOf(id)
	if s.rows[row] |= bit; s.rows[row] == math.MaxUint64 {
		delete(s.rows, row)
		s.fill(row)
	}
}

// fill notes a row that is full.
func (s *idSet) fill(row uint64) {
	i, _ := s.find(row)
	below := i > 0 && s.spans[i-1].last == row-1
	above := i < len(s.spans) && s.spans[i].first == row+1
	switch {
	case below && above:
		s.spans[i-1].last = s.spans[i].last
		s.spans = slices.Delete(s.spans, i, i+1)
	case below:
		s.spans[i-1].last = row
	case above:
		s.spans[i].first = row
	default:
		s.spans = slices.Insert(s.spans, i, rowSpan{row, row})
	}
}

// bury forgets a context that was freed, but for its id and what it has counted.
func (p *PML) bury(c *Context) {
	if p.buried == nil {
		p.buried = &Context{pml: p, match: match.NewContext(matched), freed: true}
	}
	delete(p.contexts, c.id)
	p.freed.add(c.id)
	c.match.End(refuse)
	if p.lastContext == c {
		p.lastContext = nil
	}
	p.stats.add(&c.match.Stats)
}

// arrive enters a message into its lane and its context. One for a context that was
// freed has its place in the lane only, and is refused.
func (c *Context) arrive(in *inbound, lane uint16) error {
	pe := in.peer
	if c != c.pml.buried {
		ch, err := c.from(pe)
		if err != nil {
			return err
		}
		return ch.Arrive(pe.lane(lane), &in.Message)
	}
	if err := pe.lane(lane).Pass(in.LaneSeq); err != nil {
		return err
	}
	in.refuse()
	return nil
}
