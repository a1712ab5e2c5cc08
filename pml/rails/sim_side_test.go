package rails

import (
	"errors"
	"slices"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
)

// A side is one of the two processes of a sim: it does what its Peer says, as package pml would.
type side struct {
	*sim
	no      int
	peer    *Peer
	env     Env
	rails   []*sideRail // one for each path, in their order
	wake    int64       // when Next is to be asked again; 0: when something has happened
	awake   int64       // its process is stopped until then
	dead    bool        // its process has died
	depends bool        // something depends on the peer
	heard   bool        // the peer was, since the last beat
	over    Reason      // why the peer has failed,
	overAt  int64       // and when
	steps   int         // since the time second
	second  int64
}

// A sideRail is what a side has of a path.
type sideRail struct {
	*Rail
	path    *path
	attempt int           // the number of the last one
	began   int64         // when that began
	until   int64         // when it ends
	took    time.Duration // how long one took that failed, at most
	failed  int64         // when the last one failed; 0: none has
	conn    int           // the connection that it has, or had
	sample  Sample
}

func newSide(s *sim, no int, env Env) *side {
	d := &side{sim: s, no: no, peer: new(Peer), env: env, depends: no == 0}
	for i, p := range s.paths {
		r := &sideRail{path: p, Rail: &Rail{Tier: 20 + i%2}}
		if p.place[no] == standsBy {
			r.Tier, r.Spare = 19, p.spare
			if p.spare == btl.NotSpare {
				r.Tier = 10 - 2*(i%3)
			}
		}
		r.Owner = r
		d.rails = append(d.rails, r)
	}
	return d
}

func (d *side) other() *side { return d.sides[1-d.no] }

func (d *side) rail(p *path) *sideRail { return d.rails[slices.Index(d.paths, p)] }

func (d *side) after(pause time.Duration, do func()) { d.schedule(d, pause, do) }

// ended reports whether nothing more is done by this side.
func (d *side) ended() bool { return d.dead || d.over != NoReason }

// end drops what it had yet to do.
func (d *side) end() {
	d.wake = 0
	d.events = slices.DeleteFunc(d.events, func(e event) bool { return e.side == d })
	for _, p := range d.paths {
		d.cut(p)
	}
}

// happens has something happen now.
func (d *side) happens(do func()) {
	d.env.Now = d.now
	do()
	d.drive()
}

// drive does what Next says.
func (d *side) drive() {
	d.wake = 0
	for !d.ended() {
		d.count()
		switch s := d.peer.Next(d.env); s.Do {
		case Wait:
			d.wake = s.At
			d.mayWait()
			return
		case Resolve:
			d.after(2*time.Millisecond, func() {
				if d.peer.Stage == Resolving {
					d.attach()
					d.peer.Want(d.env)
				}
			})
		case Connect:
			d.dial(s.Rail.Owner.(*sideRail))
		case Activate:
			d.peer.Attach(append(slices.Clone(d.peer.Rails), s.Rails...))
		case Appeal:
			d.note("side %d appeals", d.no)
			d.schedule(d.other(), 10*time.Millisecond, d.other().want)
		case Fail:
			d.note("side %d: the peer has failed, %d", d.no, s.Reason)
			d.over, d.overAt = s.Reason, d.now
			d.peer.End(Failed)
			d.end()
		}
	}
}

func (d *side) want() {
	if !d.peer.Connected() {
		d.peer.Want(d.env)
	}
}

// attach makes the paths that this side knows the rails of its peer.
func (d *side) attach() {
	var rails []*Rail
	for _, r := range d.rails {
		switch r.path.place[d.no] {
		case chosen:
			rails = append(rails, r.Rail)
		case standsBy:
			d.peer.Standby = append(d.peer.Standby, r.Rail)
		}
	}
	slices.SortStableFunc(d.peer.Standby, func(a, b *Rail) int { return b.Tier - a.Tier })
	d.peer.Attach(rails)
	for _, r := range d.rails {
		if r.path.place[d.no] == chosen && r.path.unmade[d.no] {
			r.path.since = d.now // until now it was not good
			d.down(r, syscall.EMFILE)
		}
	}
}

// dial begins an attempt.
func (d *side) dial(r *sideRail) {
	a := r.path.answers[d.no]
	d.note("side %d dials %s: %v, in %v", d.no, r.path.name, a.err, a.after)
	r.attempt++
	r.began = d.now
	d.answerIn(r, a.after, false)
}

// answerIn has an attempt end after a time, as the path is by then. Late: the other process has let it run out of time.
func (d *side) answerIn(r *sideRail, wait time.Duration, late bool) {
	attempt := r.attempt
	r.until = d.now + int64(wait)
	d.after(wait, func() {
		if r.attempt == attempt && r.State == Connecting {
			d.answered(r, late)
		}
	})
}

func (d *side) answered(r *sideRail, late bool) {
	o, err := d.other(), r.path.answers[d.no].err
	silent := errors.Is(err, syscall.ETIMEDOUT) || errors.Is(err, syscall.EHOSTUNREACH) // nothing reaches the other host
	switch {
	case late:
		d.down(r, syscall.ETIMEDOUT)
	case o.dead && !silent:
		d.down(r, syscall.ECONNREFUSED)
	case err != nil:
		d.down(r, err)
	case o.over != NoReason:
		d.down(r, &btl.ConnError{Err: btl.ErrUnwelcome, Final: true})
	case d.now < o.awake:
		wait := time.Duration(o.awake - d.now)
		d.answerIn(r, min(wait, handshakeTime), wait > handshakeTime)
	default:
		o.happens(func() { d.join(r) })
	}
}

// join makes a connection, of which both sides learn.
func (d *side) join(r *sideRail) {
	d.conns++
	r.path.conn = d.conns
	d.other().accept(r.path)
	d.up(r)
}

// accept lets in a connection that the peer has made.
func (d *side) accept(p *path) {
	r := d.rail(p)
	if r.State.Connected() {
		d.down(r, syscall.ECONNRESET) // the old one: the peer has it no more
	}
	if d.peer.Stage != Known {
		d.attach()
	}
	d.peer.Standby = slices.DeleteFunc(d.peer.Standby, func(s *Rail) bool { return s == r.Rail })
	if !slices.Contains(d.peer.Rails, r.Rail) {
		r.Foreign = p.place[d.no] == absent
		d.peer.Attach(append(slices.Clone(d.peer.Rails), r.Rail))
	}
	r.attempt++ // its own is of no use any more
	d.peer.Adopt(r.Rail, d.env)
	d.up(r)
}

func (d *side) up(r *sideRail) {
	d.note("side %d: %s is up", d.no, r.path.name)
	r.conn, r.sample.Oldest = r.path.conn, d.now
	d.peer.Up(r.Rail, d.env)
	d.heard = d.heard || !r.path.mute
}

func (d *side) down(r *sideRail, err error) {
	d.note("side %d: %s is down from %v, %v", d.no, r.path.name, r.State, err)
	if !r.State.Connected() {
		r.failed = d.now
	}
	if r.State == Connecting {
		r.took = max(r.took, time.Duration(d.now-r.began))
	}
	r.attempt++
	d.peer.Down(r.Rail, err, d.env)
}

// breakOff ends a connection of this side's own accord.
func (d *side) breakOff(r *sideRail, why string) {
	d.down(r, errors.New(why))
	if r.conn == r.path.conn {
		d.cut(r.path)
	}
}

// flows reports whether the rail's connection carries.
func (d *side) flows(r *sideRail) bool {
	o := d.other()
	return r.State.Connected() && r.conn == r.path.conn && !r.path.mute && !o.ended() && d.now >= o.awake
}

// look samples the rails and looks at them.
func (d *side) look() {
	d.after(d.env.RailTimeout/4, d.look)
	for _, r := range d.rails {
		carries := r.State == Up || r.State == Doubted
		if d.flows(r) {
			d.heard = true
			r.sample.Oldest = d.now
			r.sample.Signs++
			r.sample.Heard++
			r.sample.Carried += 1 << 20
			if carries {
				d.env.Moved++
			}
		}
		r.sample.Waits = d.depends && carries
		r.Sample(r.sample)
	}
	for _, r := range d.rails {
		if r.State == Trial && d.flows(r) {
			d.peer.Probed(r.Rail, d.env)
		}
		f := d.peer.Look(r.Rail, d.env)
		if f.Fault != NoFault {
			d.breakOff(r, "given up")
		}
		if f.Others {
			d.openOthers()
		}
	}
}

func (d *side) openOthers() {
	for _, r := range d.peer.Rails {
		if d.peer.Open(r, d.env) {
			d.dial(r.Owner.(*sideRail))
		}
	}
}

// beat has the peer be judged by what was heard of it.
func (d *side) beat() {
	timeout := d.env.PeerTimeout
	if timeout == 0 {
		timeout = 30 * time.Second // as pml has it, to make silent connections anew
	}
	d.after(timeout/BeatsInTimeout, d.beat)
	if !d.depends {
		d.peer.Rest()
		return
	}
	if d.peer.Beat(d.heard, true, d.env) {
		for _, r := range d.rails {
			if r.State.Connected() && !r.Foreign {
				d.breakOff(r, "made anew")
			}
		}
	}
	d.heard = false
}
