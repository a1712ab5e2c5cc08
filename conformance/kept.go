package conformance

import "github.com/strandmp/strand/btl"

// What an endpoint keeps of the frames that it has passed on ([btl.Keeper]) is read again now and then, and once
// more when it is about to go away ([btl.Saver]).

const (
	// mostPlaces is how many frames of a connection are read again, unless the case wants all.
	mostPlaces = 32
	// Where there are so many, one new frame in replaceEvery takes the place of another. So most
	// are recent, and some are so old that they may have been overwritten.
	replaceEvery = 4
	// One frame in againEvery is followed by a look at one of those that are kept.
	againEvery = 8
)

// A keptFrame is a frame, and the place where its endpoint keeps the payload.
type keptFrame struct {
	sh *shipment
	at uint64
}

// A hoard is what an endpoint keeps of one connection.
type hoard struct {
	places []keptFrame // of some of the frames
	unread int         // frames, of all, that the peer's receiver has not had
	saved  bool        // Save was called, or nothing can be kept any more
}

var _ btl.Saver = (*port)(nil)

// whereKept asks a Keeper where it keeps a frame to which Send has said this.
func (p *port) whereKept(sh *shipment, result btl.Result) (at uint64, kept bool) {
	keeper, is := p.ep.(btl.Keeper)
	if !is || result != btl.Done || sh.size == 0 || sh.size > btl.MostKept {
		return 0, false
	}
	return keeper.Kept(sh.frame), true
}

// keep notes where a frame is kept. Mu is held.
func (p *port) keep(sh *shipment, at uint64) {
	h, rng := p.hoard, p.w.t.noise
	sh.hoard = h
	if !sh.arrived {
		h.unread++
	}
	switch one := (keptFrame{sh, at}); {
	case p.keepsAll || len(h.places) < mostPlaces:
		h.places = append(h.places, one)
	case rng.IntN(replaceEvery) == 0:
		h.places[rng.IntN(len(h.places))] = one
	}
}

// glance reads one frame again, now and then.
func (p *port) glance() {
	t := p.w.t
	t.mu.Lock()
	places := p.hoard.places
	looks := len(places) > 0 && p.mayReadAgain() && t.noise.IntN(againEvery) == 0
	var one keptFrame
	if looks {
		one = places[t.noise.IntN(len(places))]
	}
	t.mu.Unlock()
	if looks {
		p.readAgain(one)
	}
}

// mayReadAgain reports whether the endpoint is connected, as far as its host knows. Mu is held.
func (p *port) mayReadAgain() bool { return p.up && p.alive() && !p.hoard.saved }

// readAgain compares what is kept at a place with what was sent.
//
// The peer's rank may run meanwhile, and have the frame arrive at any time. But the peer's receiver has had a frame
// before the peer's module can let anybody overwrite it. So if the frame is there no more, it has arrived by the time
// when that is known here, whatever the two ranks do. The reverse proves nothing: what has arrived may still be kept.
func (p *port) readAgain(one keptFrame) {
	t, sh := p.w.t, one.sh
	block := scribbled(sh.size + guard)
	there := p.ep.(btl.Keeper).Again(one.at, block[:sh.size])
	t.mu.Lock()
	defer t.mu.Unlock()
	if p.strangers {
		return // the case has written to the medium itself
	}
	if unscribbled(block[sh.size:]) {
		t.violateLocked(ruleKept, "%v: Again wrote more than the %d bytes of a payload", p, sh.size)
	}
	if !there {
		if !sh.arrived && !sh.excused {
			t.violateLocked(ruleKept, "%v: Again says that a payload of %d bytes is there no more, which the peer has not had", p, sh.size)
		}
		return
	}
	if at := noise.differs(block[:sh.size], sh.id, 0); at >= 0 {
		t.violateLocked(ruleKept, "%v: byte %d of a payload of %d bytes that Again has copied is not the one that was sent", p, at, sh.size)
	}
}

// Save implements [btl.Saver].
func (p *port) Save() {
	if !p.enterSave() {
		return
	}
	p.outside(func() {
		for _, one := range p.hoard.places {
			p.readAgain(one)
		}
	})
	p.leave()
}

// enterSave is enter for Save, which comes within Close and Abort too, where those are called from an up-call.
func (p *port) enterSave() bool {
	t := p.w.t
	switch {
	case !p.r.within():
		t.violate(ruleSerial, "%v: Save was called from outside the module's calls", p)
		return false
	case p.r.sending.Load() > 0:
		t.violate(ruleSendQuiet, "%v: Save was called from within Send", p)
		return false
	}
	depth := p.r.upcalls.Add(1)
	t.mu.Lock()
	switch {
	case p.closed && !p.closing:
		t.violateLocked(ruleKept, "%v: Save was called after Close", p)
	case p.down:
		t.violateLocked(ruleKept, "%v: Save was called after Down", p)
	case p.hoard.saved:
		t.violateLocked(ruleKept, "%v: Save was called twice", p)
	case depth > 1 && !p.closing:
		t.violateLocked(ruleSerial, "%v: Save was called from within another up-call", p)
	default:
		p.hoard.saved = true
		return true
	}
	p.leave()
	return false
}

// keepsNothing ends the account of a connection, which has ended, or is about to if Down has been called. What the peer
// has not had by now it had not had before. Mu is held.
func (p *port) keepsNothing() {
	if h := p.hoard; h.unread > 0 && !h.saved {
		p.w.t.violateLocked(ruleKept, "%v: the connection has ended without Save, and of the frames that were kept the peer has not had %d", p, h.unread)
	}
	p.hoard = &hoard{saved: p.closed}
}
