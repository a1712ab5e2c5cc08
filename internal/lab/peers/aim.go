package peers

import "github.com/strandmp/strand/internal/lab/bench"

// An Aim is what a ratio ought to be: of times at most, of rates at least.
type Aim struct {
	Limit float64
	Most  float64 // times the limit a cell that fails may be off
}

// mostOff is how far a cell that fails may be off, unless something else is said.
const mostOff = 1.25

// aimOf returns the aim of a cell beside a peer; some have none. Less than 1 is what Strand's
// design promises; 1 is as good as the peer.
func aimOf(t *Table, c bench.Cell, peer string) (a Aim, has bool) {
	a = Aim{1, mostOff}
	switch {
	case peer == "raw":
		return rawAim(t, c)
	case t.Path() == sm+"/"+pingpong:
		switch c.Size {
		case 8:
			a.Most = 1.3
		case 4 << 10, 64 << 10:
			a.Limit = 0.8
		case 1 << 20:
			a.Limit = 0.6
		}
	case t.Path() == sm+"/"+stream && (c.Size == 64<<10 || c.Size == 1<<20):
		a.Limit = 1.2
	}
	return a, true
}

// rawAim is that beside raw sockets, which do less: there are aims where their system calls, not
// what a library does besides, are most of the time.
func rawAim(t *Table, c bench.Cell) (Aim, bool) {
	switch {
	case t.Path() == tcp+"/"+pingpong && c.Size == 8:
		return Aim{1.05, mostOff}, true
	case t.Path() == tcp+"/"+pingpong:
		return Aim{1.15, mostOff}, true
	case t.Path() == tcp+"/"+stream && c.Size >= 16<<10:
		return Aim{0.9, mostOff}, true
	}
	return Aim{}, false
}
