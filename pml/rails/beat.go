package rails

// A peer that something depends on has to give a sign of life now and then. The caller
// looks at it with each beat.

// BeatsInTimeout is how many beats of the keep-alive there are in pml_peer_timeout.
// Missable is how many beats in a row a peer may miss. A peer that is silent thus fails
// one to two beats before pml_peer_timeout is over. These two leave time for a timer that
// is late, and for telling who waits.
const (
	BeatsInTimeout = 24
	Missable       = BeatsInTimeout - 2
)

// conduct is what is remembered of a peer from beat to beat.
type conduct struct {
	silent int    // beats in a row that brought nothing
	moved  uint32 // what had got through, as of the last beat
	stuck  int    // beats in a row at which moved had not changed, while something waited
	breaks int    // connections that broke during these
}

// Breaks is how many connections have broken since anything last got through.
func (p *Peer) Breaks() int { return p.conduct.breaks }

// Rest notes a beat at which nothing depends on the peer.
func (p *Peer) Rest() { p.conduct.silent, p.conduct.stuck, p.conduct.breaks = 0, 0, 0 }

// Beat notes a beat at which something depends on the peer. Heard says whether anything was
// heard since the last beat, waits whether anything waits to get through. Beat reports whether
// the connections have been silent for so long that new ones are to be made in their place: a
// middlebox may have forgotten them while they were idle, and lose what goes over them without
// a word.
func (p *Peer) Beat(heard, waits bool, e Env) (refresh bool) {
	c := &p.conduct
	if e.Moved != c.moved || !waits {
		c.moved, c.stuck, c.breaks = e.Moved, 0, 0
	} else {
		c.stuck++
	}
	if heard {
		c.silent = 0
		return false
	}
	c.silent++
	if c.silent > 1 || p.Stage != New {
		p.Want(e) // if no connection can be made either, the peer has failed
	}
	return c.silent == Missable/2
}
