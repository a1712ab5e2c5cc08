package conformance

import (
	"errors"

	"github.com/strandmp/strand/btl"
)

var closeCases = []testCase{
	{"goodbye", "What was taken before Close of an endpoint arrives, then the peer's goes down with ErrPeerClosed.", checkGoodbye, on(ruleGoodbye, ruleDownError)},
	{"goodbye-module", "When a module closes its peers' endpoints go down with ErrPeerClosed.", checkGoodbyeModule, on(ruleGoodbye, ruleDownError)},
	{"close-busy", "An endpoint that is busy can be closed: at once, without a call, and its frames are the sender's again.", checkCloseBusy, on(ruleClosed, ruleNoBlock, ruleDownError)},
	{"close-early", "An endpoint can be closed before it was used, and while it connects; a module likewise.", checkCloseEarly, on(ruleClosed)},
	{"close-silent", "After Close nothing is called, whatever the peer sends, and Send returns Broken.", checkCloseSilent, on(ruleClosed)},
	{"close-inside", "An endpoint is closed from within an up-call of its own: from Up, Writable, Deliver and End. Nothing is called any more, and the two can connect anew.", checkCloseInside, on(ruleClosed, ruleSerial, ruleNoticed)},
	{"close-both", "Both sides may close at the same time.", checkCloseBoth, on(ruleOpen, ruleClosed)},
}

// falls lets endpoints go down.
func (t *trial) falls(ports ...*port) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range ports {
		p.mayFall = true
	}
}

func (t *trial) awaitOrderlyEnd(p *port) {
	t.await(ruleNoticed, p.String()+" to go down because its peer has closed", func() bool { return p.downs > 0 })
	t.mu.Lock()
	defer t.mu.Unlock()
	if !errors.Is(p.downErr, btl.ErrPeerClosed) {
		t.violateLocked(ruleDownError, "%v: the peer has closed in order, Down says: %v", p, p.downErr)
	}
}

func checkGoodbye(t *trial) {
	w := t.open(2)
	for round := range 10 {
		there, back := w.join(w.distinctPair())
		t.falls(back)
		before := t.arrivals(w)
		const frames = 20
		if round%2 == 0 {
			there.r.stall() // no poll comes in between: what is held back has to go with Close
		}
		there.r.do("Endpoint.Send and Close", func() {
			for range frames {
				there.queue(spec{header: 16, size: 100, lane: 0})
			}
		})
		t.mu.Lock()
		taken := there.sent.frames - 1
		t.mu.Unlock()
		there.close()
		there.r.resume()
		t.awaitOrderlyEnd(back)
		if arrived := t.arrivals(w) - before; w.attr.Reliable && arrived < taken {
			t.fail(ruleGoodbye, "%d frames of 100 bytes were taken before Close, %d arrived", taken, arrived)
		}
		back.close()
	}
}

func checkGoodbyeModule(t *trial) {
	w := t.open(3)
	a, b := w.distinctPair()
	there, back := w.join(a, b)
	third, _ := w.join(w.ranks[1], b)
	t.falls(back)
	a.closeModules()
	t.awaitOrderlyEnd(back)
	third.post(w.randomSpecs(10, 64<<10)...)
	w.settle()
	if there.downs > 0 {
		t.fail(ruleClosed, "%v: Down was called after its module was closed", there)
	}
}

func checkCloseBusy(t *trial) {
	for _, module := range []bool{false, true} {
		w := t.open(2)
		a, b := w.pair()
		there, back := w.join(a, b)
		t.falls(back)
		b.stall()
		there.fillUp(w.bulk(64 << 10))
		there.post(spec{header: 16, size: min(64<<10, w.maxFrame())}) // waits in vain
		if module {
			a.closeModules()
		} else {
			there.close()
		}
		b.resume()
		if a != b {
			t.await(ruleNoticed, "the peer to notice that a busy endpoint was closed", func() bool { return back.downs > 0 })
			there.checkWholeIfOrderly(back)
		}
		w.close()
	}
}

// checkWholeIfOrderly checks that a peer which learns of an orderly end has had all frames that were
// taken. An end that has lost frames, since they could not be sent for too long, is not orderly.
func (p *port) checkWholeIfOrderly(back *port) {
	t := p.w.t
	t.mu.Lock()
	defer t.mu.Unlock()
	if lost := p.sent.frames - back.received.frames; p.w.attr.Reliable && lost > 0 && errors.Is(back.downErr, btl.ErrPeerClosed) {
		t.violateLocked(ruleDownError, "%v: the peer closed, and Down says ErrPeerClosed, though %d of %d frames never came", back, lost, p.sent.frames)
	}
}

func checkCloseEarly(t *trial) {
	for round := range 12 {
		w := t.open(2)
		a, b := w.pair()
		w.stallAll()
		there := w.connect(a, b)
		t.mu.Lock()
		w.ending = true // an endpoint that the peer accepts meanwhile soon goes down
		t.mu.Unlock()
		if round%3 > 0 {
			there.post(w.randomSpecs(3, 64<<10)...)
			w.someSteps(round)
		}
		if round%2 == 0 {
			there.close()
			w.someSteps(8)
		}
		w.resumeAll()
		w.close()
	}
}

func checkCloseSilent(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there, back := w.join(a, b)
	t.falls(back, there)
	w.stallAll()
	if a != b {
		back.post(w.randomSpecs(20, 64<<10)...)
		b.step(2)
	}
	there.close()
	a.do("Endpoint.Send after Close", func() {
		if result := there.send(spec{header: 16, size: 8}); result != btl.Broken {
			t.violate(ruleClosed, "%v: Send after Close returns %v", there, result)
		}
	})
	for range 50 {
		w.anyRank().step(1)
	}
	w.resumeAll()
}

func checkCloseInside(t *trial) {
	for range 3 {
		w := t.open(2)
		a, b := w.distinctPair()
		w.closesOnArrival(a, b)
		w.closesOnRoom(a, b)
		w.closesOnUp(a, b)
		there, back := w.join(a, b)
		there.post(w.randomSpecs(5, 64<<10)...)
		back.post(w.randomSpecs(5, 64<<10)...)
		w.settle()
		w.close()
	}
}

// closesOnArrival has rank b close in the middle of what arrives.
func (w *world) closesOnArrival(a, b *rank) {
	there, back := w.join(a, b)
	w.t.falls(there, back)
	arrivals := 0
	w.t.mu.Lock()
	back.react = func(*shipment) {
		if arrivals++; arrivals == 3 {
			back.closeInside()
		}
	}
	w.t.mu.Unlock()
	there.post(w.randomSpecs(30, 64<<10)...)
	w.t.await(ruleNoticed, "the peer to notice that an endpoint was closed while it delivered", func() bool { return there.downs > 0 })
	there.close()
}

// closesOnRoom has rank a close when it is told that there is room again.
func (w *world) closesOnRoom(a, b *rank) {
	there, back := w.join(a, b)
	w.t.falls(there, back)
	w.t.mu.Lock()
	there.inRoom = there.closeInside
	w.t.mu.Unlock()
	b.stall()
	there.fill(w.bulk(64 << 10))
	b.resume()
	w.t.await(ruleNoticed, "the peer to notice that an endpoint was closed when it had room again", func() bool { return back.downs > 0 })
	back.close()
}

// closesOnUp has rank a close as soon as it is connected.
func (w *world) closesOnUp(a, b *rank) {
	there := w.connect(a, b)
	w.t.mu.Lock()
	there.mayFall, there.inUp = true, there.closeInside
	w.onAccept = func(p *port) { p.mayFall = true }
	w.t.mu.Unlock()
	there.post(w.randomSpecs(3, 64<<10)...)
	w.t.await(ruleUp, "a connection that is closed at once", func() bool { return there.closed })
	w.abandoned(b, 0)
	w.t.mu.Lock()
	w.onAccept = nil
	w.t.mu.Unlock()
}

func checkCloseBoth(t *trial) {
	for range 15 {
		w := t.open(2)
		there, back := w.join(w.distinctPair())
		t.falls(there, back)
		w.stallAll()
		there.post(w.randomSpecs(3, 64<<10)...)
		back.post(w.randomSpecs(3, 64<<10)...)
		w.someSteps(4)
		there.close()
		w.someSteps(2)
		back.close()
		w.someSteps(8)
		w.resumeAll()
		w.close()
	}
}
