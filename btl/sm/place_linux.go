package sm

import "github.com/strandmp/strand/btl"

var _ btl.Neighbourhood = (*module)(nil)

// Settle implements [btl.Neighbourhood].
func (m *module) Settle(processor int) {
	m.place = uint64(processor + 1)
	for _, p := range m.pipes {
		p.us.place.Store(m.place)
	}
}

// Neighbours implements [btl.Neighbourhood].
func (m *module) Neighbours(on *btl.Processors) (unsure bool) {
	for _, p := range m.pipes {
		switch place := p.them.place.Load(); {
		case place > 0:
			on.Add(int(min(place, 1<<20)) - 1) // the peer may write what it likes
		case p.them.word.Load() == 0:
			unsure = true
		}
	}
	return unsure
}
