package pml

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// A network may fail without a word. Each side then finds out by the silence that follows
// what it has sent itself. A side that had nothing under way goes on trusting the
// connection. What it sends next is lost for another pml_rail_timeout. So the side that
// gives a connection up says so over another one.

// tellBroken tells the peer that a rail was given up. It may be lost; then the peer
// finds out by itself.
func (pe *peer) tellBroken(r *rail) {
	name := pe.pml.componentOf(r.module)
	if !pe.up() || name == "" || len(name) > wire.MaxComponent {
		return
	}
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.Broken, Path: uint16(r.path.Index), Component: []byte(name)})
	pe.emit(f)
}

// heardBroken takes note that the peer has given a connection up; by is the rail that
// brings the news.
func (pe *peer) heardBroken(h *wire.Header, by *rail) {
	p := pe.pml
	module := p.moduleOf(string(h.Component))
	r := pe.connectedFor(module, int(h.Path), by)
	if module == nil || r == nil || r.attr.Unbreakable {
		return
	}
	// What the peer has given up was silent for pml_rail_timeout: a connection that is
	// younger than that has been made since.
	if p.engine.Now()-r.way.ConnectedAt() < int64(p.tune.railTimeout)/2 {
		return
	}
	ep := r.endpoint
	p.engine.Post(func() { // not within another connection's call
		if r.up() && r.endpoint == ep && by.up() && pe.ways.Stage == rails.Known {
			r.breakOff(fmt.Errorf("%s: rank %d has given it up", ep.Desc(), pe.rank))
		}
	})
}

// connectedFor returns a connected rail of a module's path, other than one, or nil.
func (pe *peer) connectedFor(m btl.Module, path int, other *rail) *rail {
	for r := range pe.everyRail {
		if r != other && r.up() && r.module == m && r.path.Index == path {
			return r
		}
	}
	return nil
}

// moduleOf is the module of a component that has one, nil if there is none, or none
// of this name.
func (p *PML) moduleOf(component string) btl.Module {
	for _, o := range p.modules {
		if o.component == component {
			return o.module
		}
	}
	return nil
}
