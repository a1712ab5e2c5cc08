package conformance

import (
	"bytes"
	"reflect"

	"github.com/strandmp/strand/btl"
)

// close ends a world: the modules in random order, then the loops. Endpoints may
// go down from now on, since their peers do.
func (w *world) close() {
	w.closed = true
	w.t.mu.Lock()
	w.ending = true
	w.t.mu.Unlock()
	for _, i := range w.t.rng.Perm(len(w.ranks)) {
		w.ranks[i].resume()
		w.ranks[i].closeModules()
	}
	for _, r := range w.ranks {
		// What was still under way must come to nothing, and without a call.
		r.step(4)
	}
	for _, r := range w.ranks {
		r.do("closing", r.loop.leftovers)
		r.gear.stop()
		r.gear.close()
	}
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	w.inspectPlots()
	for _, r := range w.ranks {
		delete(w.t.ranks, r)
	}
	w.ports, w.plots = nil, nil
}

// closeModules closes the modules of a rank, once.
func (r *rank) closeModules() {
	r.do("Module.Close", func() {
		modules := r.modules
		r.modules = nil
		if len(modules) > 0 {
			r.checkUnchanged(modules[0])
		}
		ports := r.ports()
		for _, p := range ports {
			p.markClosed()
		}
		for _, m := range modules {
			if err := m.Close(); err != nil {
				r.w.t.violate(ruleOpen, "rank %d: Module.Close: %v", r.id, err)
			}
		}
		for _, p := range ports {
			p.bury()
		}
	})
}

// checkUnchanged holds a module to what it said of itself when it was opened: peers have been told.
func (r *rank) checkUnchanged(m btl.Module) {
	if now := m.Attr(); !reflect.DeepEqual(now, r.attr) {
		r.w.t.violate(ruleAttributes, "rank %d: Attr changed from %+v to %+v", r.id, r.attr, now)
	}
	now := m.Address()
	r.discreet("Address", now)
	if !bytes.Equal(now, r.address) {
		r.w.t.violate(ruleAttributes, "rank %d: Address changed from %q to %q", r.id, r.address, now)
	}
}

// ports returns the ports of this rank.
func (r *rank) ports() []*port {
	r.w.t.mu.Lock()
	defer r.w.t.mu.Unlock()
	var own []*port
	for _, p := range r.w.ports {
		if p.r == r {
			own = append(own, p)
		}
	}
	return own
}
