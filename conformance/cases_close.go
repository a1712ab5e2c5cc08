package conformance

import (
	"errors"

	"github.com/strandmp/strand/btl"
)

var closeCases = []testCase{
	{"goodbye", "What was taken before Close of an endpoint arrives, then the peer's goes down with ErrPeerClosed.", checkGoodbye, on(ruleGoodbye, ruleDownError)},
	{"goodbye-module", "When a module closes its peers' endpoints go down with ErrPeerClosed.", checkGoodbyeModule, on(ruleGoodbye, ruleDownError)},
	{"close-busy", "An endpoint that is busy can be closed: at once, without a call, and its frames are the sender's again.", checkCloseBusy, on(ruleClosed, ruleNoBlock)},
	{"close-early", "An endpoint can be closed before it was used, and while it connects; a module likewise.", checkCloseEarly, on(ruleClosed)},
	{"close-silent", "After Close nothing is called, whatever the peer sends, and Send returns Broken.", checkCloseSilent, on(ruleClosed)},
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
		there.fill(w.bulk(64 << 10))
		there.post(spec{header: 16, size: min(64<<10, w.maxFrame())}) // waits in vain
		if module {
			a.closeModules()
		} else {
			there.close()
		}
		b.resume()
		if a != b {
			t.await(ruleNoticed, "the peer to notice that a busy endpoint was closed", func() bool { return back.downs > 0 })
		}
		w.close()
	}
}

func checkCloseEarly(t *trial) {
	for round := range 12 {
		w := t.open(2)
		a, b := w.pair()
		w.stallAll()
		there := w.connect(a, b)
		t.mu.Lock()
		w.ending = true // whom the peer has accepted meanwhile is soon gone
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
