package pml

import (
	"cmp"
	"slices"

	"github.com/strandmp/strand/pml/match"
)

// idSet remembers which contexts were freed. What still comes for one is dropped, and does not
// wait for the context to be made. Ids are given out one after the other, so those that were
// freed mostly join to a few spans. Between two spans there are ids of communicators that are
// in use, or of which this process is no member: their number bounds the size of the set.
type idSet struct {
	spans []idSpan // in order; there is a gap between any two
}

// idSpan is the ids from first to last.
type idSpan struct{ first, last uint64 }

// find returns the place of the span that has the id, or of the first beyond it.
func (s *idSet) find(id uint64) (place int, found bool) {
	return slices.BinarySearchFunc(s.spans, id, func(sp idSpan, id uint64) int {
		if sp.first <= id && id <= sp.last {
			return 0
		}
		return cmp.Compare(sp.first, id)
	})
}

func (s *idSet) has(id uint64) bool {
	_, found := s.find(id)
	return found
}

func (s *idSet) add(id uint64) {
	i, found := s.find(id)
	if found {
		return
	}
	below := i > 0 && s.spans[i-1].last == id-1
	above := i < len(s.spans) && s.spans[i].first == id+1
	switch {
	case below && above:
		s.spans[i-1].last = s.spans[i].last
		s.spans = slices.Delete(s.spans, i, i+1)
	case below:
		s.spans[i-1].last = id
	case above:
		s.spans[i].first = id
	default:
		s.spans = slices.Insert(s.spans, i, idSpan{id, id})
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
