package pml

import (
	"slices"

	"github.com/strandmp/strand/pml/rails"
)

// lead has the rails lead to the peer, in the states that they are in.
func (pe *peer) lead(all ...*rail) {
	for _, r := range all {
		r.pml, r.peer, r.way.Owner = pe.pml, pe, r
	}
	choice := pe.choice
	local := pe.local
	pe.attach(pe.host, choice, all)
	pe.local = local
}

// also has one more do so, in a state.
func (pe *peer) also(r *rail, s rails.State) {
	r.way.State = s
	pe.lead(append(slices.Clone(pe.rails), r)...)
}

// is puts a rail into a state.
func (r *rail) is(s rails.State) {
	r.way.State = s
	r.peer.ways.Attach(r.peer.ways.Rails)
	r.peer.choosePoller()
}

// comesUp has a rail be connected, as far as the ways are concerned.
func (r *rail) comesUp() {
	r.sample(0, false)
	r.peer.ways.Up(&r.way, r.peer.env())
	r.busy = false
	r.peer.choosePoller()
	r.peer.proceed()
}
