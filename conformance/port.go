package conformance

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
)

// A port is the suite's side of one endpoint: it sends, and it is the
// [btl.Receiver] that checks each up-call against the contract.
type port struct {
	w        *world
	r        *rank
	peer     int
	accepted bool
	index    int
	poison   *btl.Frame // what spoilt frames point to

	// Guarded by the trial's mu.
	ep            btl.Endpoint
	up, down      bool // by the last call of Up or Down
	closed        bool
	closing       bool // Close, of the endpoint or its module, or Abort is being called
	ups, downs    int
	downErr       error
	mayFall       bool // the case does something that ends the connection
	intrudes      bool // it leads to another world, which has to refuse it
	sentSinceDown bool
	began         time.Time // when the first frame that waits for the connection was sent
	recalling     bool      // Recall is being called
	busy          bool      // Send said Busy and Writable has not come
	sawBusy       int
	rooms         int // calls of Writable
	sawBroken     bool
	futile        int // Writable calls in a row after which Send said Busy
	backlog       []spec
	held          map[*btl.Frame]*shipment
	recalled      map[*btl.Frame]bool
	landings      map[*btl.Landing]*plot
	lanes         map[int]*laneOrder
	sent          tally // taken
	received      tally
	hoard         *hoard
	keepsAll      bool  // all that the endpoint keeps is read again, not some
	strangers     bool  // the wire is tampered with: unknown frames are refused, not reported
	reuse         *plot // the memory for the next landings, if it is not to be new

	// Hooks of the case. They run in the up-call, without mu.
	react   func(*shipment)                // after an arrival
	inUp    func()                         // in Up
	inRoom  func()                         // in Writable, in the place of what is to be sent
	refuse  func(step string) error        // what Deliver, Begin and End answer
	lay     func(size int) (kind plotKind) // where a payload lands
	onBegin func(*plot)
	onDrop  func(*plot)
}

// laneOrder is what is known of one lane of one sending endpoint.
type laneOrder struct{ sent, shown, arrived uint64 }

// A tally counts frames, and the bytes of their headers and payloads.
type tally struct{ frames, bytes uint64 }

// atMost is how many bytes a transport may count for them, with what it adds to frames and their parts.
func (t tally) atMost() uint64 { return t.bytes + t.bytes/2 + 128*t.frames }

func (w *world) newPortLocked(r *rank, peer int) *port {
	p := &port{
		w: w, r: r, peer: peer, index: len(w.ports),
		held:     map[*btl.Frame]*shipment{},
		recalled: map[*btl.Frame]bool{},
		landings: map[*btl.Landing]*plot{},
		lanes:    map[int]*laneOrder{},
		hoard:    &hoard{},
		mayFall:  w.ending,
	}
	p.poison = &btl.Frame{Header: []byte("a frame used after its release"), Payload: []byte("poison"), Size: 6}
	w.ports = append(w.ports, p)
	return p
}

// alive reports whether the endpoint can carry frames. Mu is held.
func (p *port) alive() bool { return !p.closed && !p.down && !p.sawBroken && !p.r.dead }

func (p *port) String() string {
	return fmt.Sprintf("rank %d's endpoint to rank %d", p.r.id, p.peer)
}

// status describes a port that something is left to do for. Mu is held.
func (p *port) status() string {
	if p.closed || (p.up && !p.busy && len(p.backlog) == 0 && len(p.held) == 0 && len(p.landings) == 0) {
		return ""
	}
	return fmt.Sprintf("; %v: up %v, down %v, busy %v, to be sent %d, taken and not released %d, half arrived %d",
		p, p.up, p.down, p.busy, len(p.backlog), len(p.held), len(p.landings))
}

// lane returns the order kept for a lane of this endpoint. Mu is held.
func (p *port) lane(l int) *laneOrder {
	if l < btl.UrgentLane { // a module may keep the control lane and the urgent one apart
		l %= max(1, p.w.attr.Lanes)
	}
	o := p.lanes[l]
	if o == nil {
		o = &laneOrder{}
		p.lanes[l] = o
	}
	return o
}

// enter checks that an up-call may be made now, and takes mu. If it may not, mu
// is not taken.
func (p *port) enter(call string) bool {
	t := p.w.t
	if !p.r.within() {
		t.violate(ruleSerial, "%v: %s was called from outside the module's calls", p, call)
		return false
	}
	if p.r.sending.Load() > 0 {
		t.violate(ruleSendQuiet, "%v: %s was called from within Send", p, call)
		return false
	}
	if p.r.upcalls.Add(1) > 1 {
		p.r.upcalls.Add(-1)
		t.violate(ruleSerial, "%v: %s was called from within another up-call", p, call)
		return false
	}
	t.mu.Lock()
	switch {
	case p.closed:
		t.violateLocked(ruleClosed, "%v: %s was called after Close", p, call)
	case p.down && call == "Down":
		t.violateLocked(ruleDownOnce, "%v: Down was called twice; first: %v", p, p.downErr)
	case p.down && call != "Up":
		t.violateLocked(ruleDownOnce, "%v: %s was called after Down", p, call)
	case !p.up && (call == "Deliver" || call == "Begin"):
		t.violateLocked(ruleUp, "%v: %s was called before Up", p, call)
	case p.hoard.saved && call != "Drop" && call != "Down":
		t.violateLocked(ruleKept, "%v: %s was called after Save", p, call)
	default:
		return true
	}
	p.leave()
	return false
}

// leave ends an up-call that enter has begun.
func (p *port) leave() {
	p.w.t.events++
	p.w.t.tell()
	p.w.t.mu.Unlock()
	p.r.upcalls.Add(-1)
}

// outside runs a hook of the case within an up-call, without mu.
func (p *port) outside(f func()) {
	p.w.t.mu.Unlock()
	defer p.w.t.mu.Lock()
	f()
}

// Up implements [btl.Receiver].
func (p *port) Up(hello []byte) {
	if !p.enter("Up") {
		return
	}
	defer p.leave()
	switch {
	case p.intrudes:
		p.w.t.violateLocked(ruleProof, "%v: Up for a connection to a process that shares neither job nor key with it", p)
	case p.up:
		p.w.t.violateLocked(ruleUp, "%v: Up was called twice", p)
	case p.down && !p.sentSinceDown:
		p.w.t.violateLocked(ruleDownOnce, "%v: Up was called after Down though nothing was sent", p)
	case string(hello) != string(p.w.ranks[p.peer].host.hello):
		p.w.t.violateLocked(ruleUp, "%v: Up shows a hello of %d bytes that is not the one of rank %d (%d bytes)",
			p, len(hello), p.peer, len(p.w.ranks[p.peer].host.hello))
	}
	p.up, p.down, p.began = true, false, time.Time{}
	p.ups++
	if p.inUp != nil {
		p.outside(p.inUp)
	}
}

// Writable implements [btl.Receiver].
func (p *port) Writable() {
	if !p.enter("Writable") {
		return
	}
	defer p.leave()
	p.busy = false
	p.rooms++
	if p.inRoom != nil {
		p.outside(p.inRoom)
		return
	}
	before := p.sent.frames
	p.outside(p.pump)
	if p.busy && p.sent.frames == before {
		if p.futile++; p.futile > 100 {
			p.w.t.violateLocked(ruleWritable, "%v: Writable was called %d times in a row and Send said Busy each time", p, p.futile)
		}
	} else {
		p.futile = 0
	}
}

// Released implements [btl.Receiver].
func (p *port) Released(f *btl.Frame) {
	if !p.enter("Released") {
		return
	}
	defer p.leave()
	sh := p.held[f]
	if p.recalling || p.recalled[f] {
		p.w.t.violateLocked(ruleRecall, "%v: Released for a frame that Recall has given back", p)
		return
	}
	if sh == nil {
		p.w.t.violateLocked(ruleReleased, "%v: Released for a frame that the transport does not hold (released before, or never taken)", p)
		return
	}
	if p.w.attr.Confirms && !sh.arrived {
		p.w.t.violateLocked(ruleConfirms, "%v: a frame of %d bytes was released before it arrived", p, sh.size)
	}
	p.reclaim(sh)
}

// reclaim takes the frame's memory back. Mu is held.
func (p *port) reclaim(sh *shipment) {
	if what := sh.touched(); what != "" {
		p.w.t.violateLocked(ruleLent, "%v: frame of %d bytes in %d pieces: %s while the transport had it", p, sh.size, len(sh.pieces), what)
	}
	delete(p.held, sh.frame)
	sh.held = false
	sh.spoil(p.poison)
}

// Down implements [btl.Receiver].
func (p *port) Down(err error) {
	if !p.enter("Down") {
		return
	}
	defer p.leave()
	if n := len(p.landings); n > 0 {
		p.w.t.violateLocked(ruleLanding, "%v: Down was called while %d frames stood half arrived; Drop comes first", p, n)
	}
	if err == nil {
		p.w.t.violateLocked(ruleDownError, "%v: Down without an error", p)
	} else if secret := p.r.reveals([]byte(err.Error())); secret != "" {
		p.w.t.violateLocked(ruleDiscreet, "%v: Down's error shows %s", p, secret)
	}
	if p.mustStay() {
		p.fell(err)
	}
	p.up, p.down, p.sentSinceDown, p.busy, p.began = false, true, false, false, time.Time{}
	p.downs++
	p.downErr = err
	p.giveUp()
}

// mustStay reports whether nothing has happened by which the endpoint may go down. Mu is held.
func (p *port) mustStay() bool { return !p.mayFall && !p.w.ending && !p.w.breached.Load() }

// fell reports an endpoint that has gone down though the case did nothing to it. An endpoint that
// has waited in vain for an answer may be sound and its time limit too short. That is another
// violation, since the remedy is another. Mu is held.
func (p *port) fell(err error) {
	waited, limit := time.Since(p.began), p.w.limit
	switch unanswered := !p.up && !p.began.IsZero() && timedOut(err); {
	case unanswered && waited < limit.time:
		p.w.t.violateLocked(ruleStaysUp, "%v: went down for want of an answer after %v, before any limit of its own was over (%s is %v): %v",
			p, waited.Round(time.Microsecond), limit.name, limit.time, err)
	case unanswered:
		p.w.t.violateLocked(ruleInTime, "%v: gave up after %v, though its peer is there: %v%s", p, waited.Round(time.Microsecond), err, limit.remedy())
	case p.wasGivenUp():
		p.w.t.violateLocked(ruleInTime, "%v: went down, since its peer, whose time to connect was over, gave up the connection: %v%s", p, err, limit.remedy())
	default:
		p.w.t.violateLocked(ruleStaysUp, "%v: went down: %v", p, err)
	}
}

// wasGivenUp reports whether the peer has waited for this connection for longer than its limit: it was made here, and the last word
// came too late there. Mu is held.
func (p *port) wasGivenUp() bool {
	limit := p.w.limit.time
	return limit > 0 && slices.ContainsFunc(p.w.ports, func(q *port) bool {
		return q != p && q.r.id == p.peer && q.peer == p.r.id && !q.up && !q.began.IsZero() && time.Since(q.began) >= limit
	})
}

// timedOut reports whether the cause is that something has not come in time.
func timedOut(err error) bool {
	var t interface{ Timeout() bool }
	return errors.As(err, &t) && t.Timeout()
}

// giveUp settles the account of an endpoint that is down or closed. Its frames may be
// lost, and their memory is the sender's again. Mu is held.
func (p *port) giveUp() {
	p.keepsNothing()
	p.excuse()
	for _, sh := range p.held {
		p.reclaim(sh)
	}
	p.backlog = nil
}

// excuse lets frames that have not arrived be lost. Mu is held.
func (p *port) excuse() {
	for _, sh := range p.w.book.expected {
		if sh.from == p {
			p.w.book.excuse(sh)
		}
	}
}

// abandon ends an endpoint at once, and for both sides if the endpoint can do that. Hosts do so
// with an endpoint that is silent.
func (p *port) abandon() {
	aborter, ok := p.ep.(btl.Aborter)
	if !ok {
		p.close()
		return
	}
	p.r.do("Aborter.Abort", func() {
		p.markClosed()
		aborter.Abort()
		p.bury()
	})
}

// recall has an endpoint let go of its frames, whose memory is overwritten.
func (p *port) recall(rec btl.Recaller) {
	t := p.w.t
	p.r.do("Recaller.Recall", func() {
		t.mu.Lock()
		p.recalling = true
		t.mu.Unlock()
		copied := rec.Recall()
		t.mu.Lock()
		defer t.mu.Unlock()
		p.recalling = false
		if copied < 0 || copied > p.w.attr.MaxFrame+btl.MaxHeader {
			t.violateLocked(ruleRecall, "%v: Recall says that it has copied %d bytes, of one frame at most", p, copied)
		}
		for f, sh := range p.held {
			p.recalled[f], sh.recalled = true, true
			p.w.book.excuse(sh)
			p.reclaim(sh)
		}
		t.changed.Broadcast()
	})
}

// close closes the endpoint.
func (p *port) close() { p.r.do("Endpoint.Close", p.closeInside) }

// closeInside is close within a call of the rank.
func (p *port) closeInside() {
	p.markClosed()
	if err := p.ep.Close(); err != nil {
		p.w.t.violate(ruleOpen, "%v: Close: %v", p, err)
	}
	p.bury()
}

// markClosed forbids all further up-calls.
func (p *port) markClosed() {
	p.w.t.mu.Lock()
	defer p.w.t.mu.Unlock()
	if p.hoard.saved && !p.closed && p.r.upcalls.Load() == 0 {
		p.w.t.violateLocked(ruleKept, "%v: Save was called, and the connection had not ended", p)
	}
	p.closed, p.closing = true, true
}

// bury takes back all that a closed endpoint had.
func (p *port) bury() {
	p.w.t.mu.Lock()
	defer p.w.t.mu.Unlock()
	p.closing = false
	p.giveUp()
	for _, pl := range p.landings {
		pl.take()
	}
	clear(p.landings)
	p.w.t.tell()
}
