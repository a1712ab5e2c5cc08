// Package directory is where the modules of a transport that stays within one process find
// each other, and who asks one for a connection is not forgotten.
//
// A module does its work in its rank's loop. Who wants something of another module posts
// that to the other's loop, which never runs it if it has closed by then. So who asks is
// written down here until the other has looked, and whoever leaves gets the list of those
// that still wait, to refuse them.
package directory

import (
	"maps"
	"slices"
	"sync"
)

// A Directory has modules M, whose endpoints E ask each other for connections. The zero
// value is ready; any goroutine may use it.
type Directory[M, E comparable] struct {
	mu      sync.Mutex
	last    uint64
	entries map[uint64]entry[M, E]
}

type entry[M, E comparable] struct {
	module M
	asking map[E]struct{}
}

// Enter makes a module known and returns its number.
func (d *Directory[M, E]) Enter(m M) uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.entries == nil {
		d.entries = make(map[uint64]entry[M, E])
	}
	d.last++
	d.entries[d.last] = entry[M, E]{m, make(map[E]struct{})}
	return d.last
}

// Modules returns those that are known, in any order.
func (d *Directory[M, E]) Modules() []M {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []M
	for _, e := range d.entries {
		all = append(all, e.module)
	}
	return all
}

// Has reports whether a module of that number is known.
func (d *Directory[M, E]) Has(id uint64) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, known := d.entries[id]
	return known
}

// Ask returns the module of that number, if it is known, and notes that an endpoint waits
// for its answer.
func (d *Directory[M, E]) Ask(id uint64, who E) (m M, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	e, known := d.entries[id]
	if known {
		e.asking[who] = struct{}{}
	}
	return e.module, known
}

// Look is for the module of that number when it looks at who asks. It reports whether the
// endpoint still waits; if not it was on the list that Leave returned.
func (d *Directory[M, E]) Look(id uint64, who E) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	asking := d.entries[id].asking
	_, waits := asking[who]
	delete(asking, who)
	return waits
}

// Leave has a module known no more, and returns the endpoints that wait for its answer.
func (d *Directory[M, E]) Leave(id uint64) []E {
	d.mu.Lock()
	defer d.mu.Unlock()
	asking := d.entries[id].asking
	delete(d.entries, id)
	return slices.Collect(maps.Keys(asking))
}
