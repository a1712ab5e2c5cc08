package rails

import "time"

// Want notes that something is to be sent to the peer, or is wanted of it.
func (p *Peer) Want(e Env) {
	p.wanted = true
	if e.Appeals && p.Stage == Known && p.appealAt == 0 && !p.Connected() {
		p.appealAt = e.in(FirstContact)
	}
}

// Seek notes that a receive, or a probe, waits for the peer, which may make contact
// itself.
func (p *Peer) Seek(e Env) {
	if p.Stage == New && p.seekAt == 0 {
		p.seekAt = e.in(FirstContact)
	}
}

// Open has a rail connect that was not connected so far, if it is of use. It reports
// whether the caller is to see to that.
func (p *Peer) Open(r *Rail, e Env) bool {
	if r.State != Idle || p.rests(r) {
		return false
	}
	p.open(r, e)
	return true
}

// OpenAside has a rail connect that carries some frames beside those that lead to the peer, over a
// new endpoint where its own is broken. It reports whether the caller is to see to that: there is a
// connection to the peer beside which it would be, and its pause is over.
func (p *Peer) OpenAside(r *Rail, e Env) (anew, open bool) {
	anew = r.State == Down
	if !p.Connected() || r.Foreign || !anew && r.State != Idle || anew && e.Now < r.since+int64(r.pause) {
		return false, false
	}
	p.open(r, e)
	return anew, true
}

func (p *Peer) open(r *Rail, e Env) { r.State, r.since = Connecting, e.Now }

// Adopt notes that the peer has begun to connect the rail, in the place of one that is
// broken or that was never there.
func (p *Peer) Adopt(r *Rail, e Env) { r.State, r.since = Connecting, e.Now }

// Up notes that a rail is connected.
func (p *Peer) Up(r *Rail, e Env) {
	if r.Aside {
		r.State, r.since, r.moved = Up, e.Now, e.Moved
		r.pace.begin(e.Now)
		r.trip.begin()
		return
	}
	if !p.Met {
		p.conduct = conduct{} // that nobody answered before says nothing of who does now
	}
	p.Met, p.exhausted = true, false
	p.widenAt, p.appealAt, p.answerBy = 0, 0, 0
	r.met, r.since, r.moved = true, e.Now, e.Moved
	r.failing, r.refused = row{}, row{}
	r.pace.begin(e.Now)
	r.trip.begin()
	r.State = Resting
	r.trial.begin(e.Now)
	if r.trial.lost > 0 {
		r.State = Trial
	} else {
		r.pause = 0
	}
	for _, other := range p.Rails {
		if other.State == Gone && !other.Unbreakable {
			other.State = Down // its last attempt may have failed before this one
		}
	}
	p.settle()
}

// Broken notes that a rail's transport takes nothing more and is about to say why.
func (p *Peer) Broken(r *Rail, e Env) {
	switch {
	case !r.State.Connected():
	case r.Aside:
		r.State = Breaking
	default:
		r.State, p.lost = Breaking, e.Now
		p.settle()
	}
}

// Down notes that a connection has broken, or that an attempt to make one has failed.
func (p *Peer) Down(r *Rail, err error, e Env) {
	if r.Aside {
		r.downAside(err, e)
		return
	}
	was := r.State
	r.Cause, p.last, p.wanted = err, r, true
	broke := was.Connected() || was == Breaking
	if broke {
		p.conduct.breaks++
		p.lost = e.Now
		r.failing, r.refused = row{}, row{}
		r.Loses(LeastProbe) // the other side may have lost something
	} else {
		began := r.since
		if was != Connecting {
			began = e.Now // it was not even begun
		}
		r.note(err, began, e.Now)
	}
	if was == Trial {
		r.trial.failed++
	}
	if broke && e.Moved != r.moved {
		r.futile = 0
	} else {
		r.futile++
	}
	r.State, r.since = Down, e.Now
	if Final(err) || r.Unbreakable {
		r.State = Gone
	}
	p.settle()
	if broke {
		p.Want(e) // it may be that only the peer can connect, and that nobody else asks for it
	}
	if p.Connected() {
		r.pause = min(max(2*r.pause, firstPause), lastPause)
	}
}

// downAside is Down for a rail that is no way to the peer: nothing is lost with it. The pause before
// it is tried again grows while nothing gets through.
func (r *Rail) downAside(err error, e Env) {
	served := r.State.Connected() || r.State == Breaking
	switch {
	case Final(err):
		r.pause = lastAsidePause
	case served && e.Moved != r.moved:
		r.pause = firstPause
	default:
		r.pause = min(max(2*r.pause, firstPause), lastAsidePause)
	}
	r.Cause, r.State, r.since = err, Down, e.Now
}

// Shut notes that the caller has closed a rail for good.
func (p *Peer) Shut(r *Rail) {
	r.State = Gone
	p.settle()
}

// Doubt has the others go before a rail that is silent, or trusts it again.
func (p *Peer) Doubt(r *Rail, doubted bool) {
	switch {
	case doubted && r.State == Up:
		r.State = Doubted
	case !doubted && r.State == Doubted:
		r.State = Up
	default:
		return
	}
	p.settle()
}

// Doom notes that the launcher says that the peer has failed, or has left. What it has sent is still
// read, for a while.
func (p *Peer) Doom(e Env) { p.doomedAt = max(e.Now, 1) }

// Damage notes that what the peer says makes no sense.
func (p *Peer) Damage() { p.damaged = true }

// Exhaust notes that there is no way to the peer at all.
func (p *Peer) Exhaust() { p.exhausted = true }

// End notes that nothing more is heard from the peer.
func (p *Peer) End(s Stage) { p.Stage = s }

const (
	// NextRail is how long a rail may take to connect before the next one is tried
	// too: the Connection Attempt Delay of RFC 8305, section 8.
	NextRail = 250 * time.Millisecond
	// FirstContact is how long a receive that names a peer waits for that peer to connect,
	// before this side makes a connection. It is also how long a peer may stay unconnected
	// before it is asked to connect: perhaps only one side can.
	FirstContact = time.Second
	// AppealTime is how long a peer has to connect that was asked to, when nothing else was
	// left.
	AppealTime = 3 * time.Second
	// afterStop is how much longer a peer has where this process was stopped for as long or longer.
	afterStop = time.Second
	// LastWords bounds how long it may take to read what a failed process has sent. The
	// connections of a dead process end behind their last byte; on one host they end at once.
	LastWords = 100 * time.Millisecond
)
