package sm

import "github.com/strandmp/strand/btl"

var _ btl.Neighbourhood = (*module)(nil)

// Settle implements [btl.Neighbourhood].
func (m *module) Settle(processor int, waits bool) {
	m.place, m.waits = uint64(processor+1), waits
	for _, p := range m.pipes {
		p.settle()
	}
}

// settle tells the peer where this rank is. Both are hints, so nobody waits until the peer can see them.
func (p *pipe) settle() {
	announce(p.us.place, p.m.place)
	if p.us.word.Load()&sleeps == 0 {
		announce(p.us.word, p.m.idles())
	}
}

// idles is the word of a side that is awake.
func (m *module) idles() uint64 {
	if m.waits {
		return waits
	}
	return 0
}

// Neighbours implements [btl.Neighbourhood].
func (m *module) Neighbours(on, waiting *btl.Processors) (unsure bool) {
	for _, p := range m.pipes {
		place, word := p.them.processor(), p.them.word.Load()
		switch {
		case place < 0:
			unsure = unsure || word&sleeps == 0
		case word&waits != 0:
			waiting.Add(place)
			fallthrough
		default:
			on.Add(place)
		}
	}
	return unsure
}

// processor is the one on which the side is; -1: it has not said.
func (s side) processor() int {
	return int(min(s.place.Load(), 1<<20)) - 1 // the peer may write what it likes
}
