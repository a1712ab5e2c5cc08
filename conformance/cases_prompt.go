package conformance

import (
	"time"

	"github.com/strandmp/strand/btl"
)

var promptCases = []testCase{
	{"lone-frame", "A frame that is the first since the last poll goes at once: it arrives though the sender does not poll again.", checkLoneFrame, on(ruleAtOnce)},
	{"held-back", "Small frames that follow another may be held back; they go with the next poll, or with Flush if the endpoint has it.", checkHeldBack, on(ruleAtOnce)},
	{"poller", "An endpoint that can poll for itself delivers from Poll and says so.", checkPoller, on(rulePoller)},
	{"rest", "Where nothing is sent for a while, Progress, Poll and handlers say that they did nothing; what is sent afterwards arrives.", checkRest, on(ruleRest, ruleReliable)},
}

const promptRounds = 30

// still connects two ranks and stops the first.
func (w *world) still() (there, back *port) {
	a, b := w.distinctPair()
	there, back = w.join(a, b)
	a.stall()
	a.step(4) // what came last from the peer
	return there, back
}

// arrives waits for all frames, but not for their release: the sender may sleep.
func (w *world) arrives(r Rule, what string) {
	w.t.await(r, what, func() bool { return w.book.pending == 0 || !w.attr.Reliable })
}

func (w *world) needReliable() {
	if !w.attr.Reliable {
		w.t.skip("the module is not Reliable: a frame that does not arrive proves nothing")
	}
}

func checkLoneFrame(t *trial) {
	w := t.open(2)
	w.needReliable()
	there, _ := w.still()
	for i := range promptRounds {
		there.r.step(1)
		there.post(spec{header: 16, size: i * i, lane: i})
		w.arrives(ruleAtOnce, "a lone frame to arrive though its sender does not poll")
		there.r.step(3) // it may learn of the arrival
	}
	there.r.resume()
}

func checkHeldBack(t *trial) {
	w := t.open(2)
	w.needReliable()
	there, _ := w.still()
	flusher, canFlush := there.ep.(btl.Flusher)
	for i := range promptRounds {
		for range 5 {
			there.post(spec{header: 16, size: 10 + i, lane: i})
		}
		if canFlush && i%2 == 0 {
			there.r.do("Endpoint.Flush", flusher.Flush)
			w.arrives(ruleAtOnce, "frames that were held back to arrive after Flush")
		} else {
			there.r.step(1)
			w.arrives(ruleAtOnce, "frames that were held back to arrive after one poll of the sender")
		}
		there.r.step(3)
	}
	there.r.resume()
}

func checkPoller(t *trial) {
	w := t.open(2)
	w.needReliable()
	there, back := w.join(w.pair())
	poll, ok := back.ep.(btl.Poller)
	if !ok {
		t.skip("the endpoint is no Poller")
	}
	if there.r == back.r {
		t.skip("the transport reaches its own rank only, which has to progress to send")
	}
	back.r.stall()
	for i := range promptRounds {
		there.post(spec{header: 16, size: min(i*i*20, w.maxFrame()), lane: i})
		for !pollOnce(back, poll) {
			t.patience(rulePoller, "a frame to arrive by Poll alone")
		}
	}
	back.r.resume()
}

// pollOnce polls and reports whether all has arrived.
func pollOnce(p *port, poll btl.Poller) bool {
	t := p.w.t
	account := func() (received uint64, all bool) {
		t.mu.Lock()
		defer t.mu.Unlock()
		return p.received.frames, p.w.book.pending == 0
	}
	before, _ := account()
	did := false
	p.r.do("Poller.Poll", func() { did = poll.Poll() })
	after, all := account()
	if after > before && !did {
		t.violate(rulePoller, "%v: Poll delivered a frame and said that nothing was there", p)
	}
	return all
}

// quietTurns is how many turns in a row have to find nothing to do.
const quietTurns = 50

// checkRest waits for both ranks to find nothing to do. Timers and what the peer said last may give them work
// for a while.
func checkRest(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	there.r.stall()
	back.r.stall()
	for _, p := range []*port{there, back} {
		t.restful("the rank to have nothing to do", func() bool {
			did, due := p.r.gear.(*stepper).turnUnless(false)
			return did || due
		})
		if poll, ok := p.ep.(btl.Poller); ok {
			t.restful("Poll of an endpoint to have nothing to do", func() (did bool) {
				p.r.do("Poller.Poll", func() { did = poll.Poll() })
				return did
			})
		}
	}
	there.r.resume()
	back.r.resume()
	t.pass(longRest, func() bool { return false })
	for _, p := range []*port{there, back} {
		p.post(spec{header: 16, size: 100}, spec{header: 16, size: 10})
	}
}

// longRest is how long nothing is sent: what ran, or was watched, may have been ended meanwhile.
const longRest = 100 * time.Millisecond

// restful calls work until it has done nothing for some turns in a row.
func (t *trial) restful(what string, work func() (did bool)) {
	for quiet := 0; quiet < quietTurns; quiet++ {
		for work() {
			quiet = 0
			t.patience(ruleRest, what)
		}
	}
}
