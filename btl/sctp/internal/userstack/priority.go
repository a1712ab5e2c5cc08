package userstack

import (
	"slices"

	"github.com/pion/sctp"
)

// byPlace is the scheduler prio. Of the streams that have something to send, the one
// with the lowest place goes first; those with the same place take turns. Pion calls it
// under a lock of its own.
type byPlace struct {
	placeOf func(stream uint16) uint16
	waiting []*lineOf
}

// lineOf is what waits of one stream.
type lineOf struct {
	stream, place uint16
	chunks        []sctp.StreamSchedulerChunk
}

// Reset implements [sctp.InterleavingStreamScheduler].
func (p *byPlace) Reset() { p.waiting = nil }

// Push implements [sctp.InterleavingStreamScheduler].
func (p *byPlace) Push(c sctp.StreamSchedulerChunk) {
	id := c.StreamIdentifier()
	i := slices.IndexFunc(p.waiting, func(l *lineOf) bool { return l.stream == id })
	if i < 0 {
		i = len(p.waiting)
		p.waiting = append(p.waiting, &lineOf{stream: id, place: p.placeOf(id)})
	}
	l := p.waiting[i]
	l.chunks = append(l.chunks, c)
}

// next is which of those that wait goes first, or -1.
func (p *byPlace) next() int {
	best := -1
	for i, l := range p.waiting {
		if best < 0 || l.place < p.waiting[best].place {
			best = i
		}
	}
	return best
}

// Peek implements [sctp.InterleavingStreamScheduler].
func (p *byPlace) Peek() sctp.StreamSchedulerChunk {
	i := p.next()
	if i < 0 {
		return nil
	}
	return p.waiting[i].chunks[0]
}

// Pop implements [sctp.InterleavingStreamScheduler].
func (p *byPlace) Pop(c sctp.StreamSchedulerChunk) error {
	i := p.next()
	if i < 0 || p.waiting[i].chunks[0] != c {
		return sctp.ErrUnexpectedChunkPoppedStream
	}
	l := p.waiting[i]
	l.chunks[0] = nil
	l.chunks = l.chunks[1:]
	p.waiting = slices.Delete(p.waiting, i, i+1)
	if len(l.chunks) > 0 {
		p.waiting = append(p.waiting, l) // behind those with the same place
	}
	return nil
}

// scheduling has pion send by what the parameters say.
func (c *config) scheduling() []sctp.AssociationInterleavingOption {
	switch {
	case c.Scheduler == "rr":
		return []sctp.AssociationInterleavingOption{sctp.WithInterleavingRoundRobinScheduler()}
	case c.Scheduler == "prio":
		return []sctp.AssociationInterleavingOption{sctp.WithInterleavingStreamSchedulerFactory(
			func() sctp.InterleavingStreamScheduler { return &byPlace{placeOf: c.priority} })}
	case c.Scheduler == "wfq" && c.Priorities != nil:
		var weights []sctp.AssociationInterleavingOption
		for id := 1; id < c.Streams; id++ {
			weights = append(weights, sctp.WithInterleavingWeightedFairQueueingWeight(uint16(id), c.priority(uint16(id))))
		}
		return weights
	}
	return nil
}

// priority is a stream's place or weight.
func (c *config) priority(stream uint16) uint16 {
	if stream == 0 || len(c.Priorities) == 0 {
		return 0
	}
	return c.Priorities[min(int(stream), len(c.Priorities))-1]
}
