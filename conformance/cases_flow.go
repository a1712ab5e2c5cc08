package conformance

import (
	"math"
	"time"

	"github.com/strandmp/strand/btl"
)

var flowCases = []testCase{
	{"busy-writable", "An endpoint whose peer does not read says Busy at some time, and Writable when it goes on; all arrives.", checkBusy, on(ruleWritable, ruleBounded, ruleCounters)},
	{"writable-soon", "Writable comes soon after the peer has had what was taken.", checkWritableSoon, on(ruleWritable)},
	{"busy-held-back", "What is sent at once, up to any length and beyond it, is taken or Busy though nothing has gone yet, and Writable follows.", checkBusyHeldBack, on(ruleWritable, ruleReliable)},
	{"busy-connecting", "What is sent before the connection is up is taken or Busy, and Writable follows.", checkBusyConnecting, on(ruleWritable, ruleReliable)},
	{"stutter", "A receiver that stops and goes on at random loses no wake-up on either side.", checkStutter, on(ruleWritable, ruleReliable)},
	{"recall", "An endpoint that gives back its frames (Recaller) reads and releases none of them afterwards: their memory is overwritten at once. What it had begun, and what follows, arrives.", checkRecall, on(ruleRecall, ruleStaysUp, ruleWritable)},
	{"released", "Each frame that was Taken is released, once; its memory is overwritten at once, which harms nobody.", checkReleased, on(ruleReleased, ruleConfirms, ruleLent, ruleIntact, ruleSendQuiet)},
}

// Bounds for what an endpoint may take for a peer that does not read: far more
// than the buffers of any system, far less than memory.
const (
	mostTaken  = 256 << 20
	mostFrames = 200_000
)

// checkQueued holds what an endpoint says of its queue against the frames that it holds. If the module neither Confirms nor Retains,
// it holds none that the system has.
func (p *port) checkQueued() {
	flusher, ok := p.ep.(btl.Flusher)
	if !ok || p.w.attr.Confirms || p.w.attr.Retains {
		return
	}
	p.r.do("Flusher.Queued", func() {
		held := p.w.t.holds(func() bool { return len(p.held) > 0 })
		if n := flusher.Queued(); held && n == 0 {
			p.w.t.violate(ruleCounters, "%v: Queued is 0 though frames were taken and not released", p)
		}
	})
}

// staysBusy is how long an endpoint whose peer does not read stays busy, at least.
const staysBusy = 20 * time.Millisecond

// fillUp is fill, until the endpoint stays busy. Goroutines that write have it busy for a moment at first, when the system still has
// room. If those that read give all to a peer that looks at nothing, it is never busy for longer.
func (p *port) fillUp(specs ...spec) {
	for taken := p.fill(specs...); p.roomWithin(staysBusy); taken += p.fill(specs...) {
		if taken > mostTaken {
			p.w.t.fail(ruleBounded, "%v took %d bytes while its peer did not read, and was busy for moments only", p, taken)
		}
	}
}

// roomWithin reports whether an endpoint that is busy says Writable before the time is over.
func (p *port) roomWithin(d time.Duration) bool {
	t := p.w.t
	t.mu.Lock()
	rooms, busy := p.rooms, p.busy && p.alive()
	t.mu.Unlock()
	t.pass(d, func() bool { return !busy || p.rooms > rooms })
	return t.holds(func() bool { return p.alive() && (!busy || p.rooms > rooms) })
}

// pass lets a time go by, or less if something is so before.
func (t *trial) pass(d time.Duration, so func() bool) {
	over := false
	timer := time.AfterFunc(d, func() {
		t.mu.Lock()
		over = true
		t.tell()
		t.mu.Unlock()
	})
	defer timer.Stop()
	t.await(ruleNoBlock, "a moment to pass", func() bool { return over || so() })
}

// fill sends until the endpoint is busy: frames of these kinds, by turns. It returns their length.
func (p *port) fill(specs ...spec) (taken int) {
	t := p.w.t
	for n := 0; ; n++ {
		s := specs[n%len(specs)]
		p.post(s)
		taken += s.size
		t.check()
		t.mu.Lock()
		busy, alive := p.busy, p.alive()
		t.mu.Unlock()
		if busy || !alive {
			return taken
		}
		if n > mostFrames || n*(s.size+1) > mostTaken {
			t.fail(ruleBounded, "%v took %d frames of %d bytes while its peer did not read", p, n, s.size)
		}
	}
}

// bulk is a frame for filling: of the given size, or the largest possible.
func (w *world) bulk(size int) spec {
	return spec{header: 16, size: min(size, w.maxFrame()), shared: true}
}

func checkBusy(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there, _ := w.join(a, b)
	for _, size := range []int{64 << 10, 1 << 10, 1 << 20} {
		b.stall()
		there.fillUp(w.bulk(size))
		there.checkQueued()
		there.post(w.bulk(size), w.bulk(10), w.bulk(0))
		if a != b {
			a.stall()
			a.step(300) // no Writable without room
			a.resume()
		}
		b.resume()
		w.settle()
	}
	if there.sawBusy == 0 {
		t.fail(ruleBounded, "%v never said Busy", there)
	}
}

// latestWritable is how long after the peer has had everything Writable may come, at the least of several times: a machine that does
// other things delays one of them. A transport that has it wait for a timer makes every burst wait.
const latestWritable = time.Second

func checkWritableSoon(t *trial) {
	w := t.open(2)
	if !w.attr.Reliable {
		t.skip("the module is not Reliable: nobody knows when the peer has had all that was taken")
	}
	a, b := w.pair()
	there, back := w.join(a, b)
	late := time.Duration(math.MaxInt64)
	for range 3 {
		b.stall()
		there.fill(w.bulk(1 << 10))
		late = min(late, w.writableAfter(b, there, back))
		w.settle()
	}
	if late > latestWritable {
		t.fail(ruleWritable, "%v: each time Writable came %v or more after the peer had had all that was taken", there, late)
	}
}

// writableAfter lets a peer read again that has not read for a while, and returns how long Writable takes once the peer has had all that was taken.
func (w *world) writableAfter(peer *rank, there, back *port) time.Duration {
	t := w.t
	t.mu.Lock()
	rooms, busy := there.rooms, there.busy
	t.mu.Unlock()
	peer.resume()
	if !busy {
		return 0
	}
	t.await(ruleReliable, "what was taken to arrive", func() bool { return there.rooms > rooms || back.received.frames >= there.sent.frames })
	from := time.Now()
	t.await(ruleWritable, "Writable", func() bool { return there.rooms > rooms })
	return time.Since(from)
}

// checkBusyHeldBack has frames that wait to go out together come near the ends of buffers, which are mostly of such lengths, with and
// without their headers, and one more frame behind them.
func checkBusyHeldBack(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there, _ := w.join(a, b)
	for _, border := range []int{4 << 10, 16 << 10, 32 << 10, 48 << 10, 64 << 10, 256 << 10} {
		for short := 0; short < 200; short += 8 {
			a.stall()
			specs := []spec{w.bulk(1)} // which may go by itself
			for left := border - short; left > 0; left -= 16_000 {
				specs = append(specs, w.bulk(min(left, 16_000)))
			}
			there.post(specs...)
			there.post(w.bulk(16 << 10))
			a.resume()
			w.settle()
		}
	}
}

func checkBusyConnecting(t *trial) {
	for _, size := range []int{0, 1 << 10, 64 << 10} {
		w := t.open(2)
		a, b := w.pair()
		b.stall()
		there := w.connect(a, b)
		for range 300 {
			there.post(w.bulk(size))
		}
		if a != b {
			a.stall()
			a.step(3)
			a.resume()
		}
		b.resume()
		w.settle()
		there.post(w.bulk(size))
	}
}

func checkStutter(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there, back := w.join(a, b)
	for range 40 {
		r := w.anyRank()
		r.stall()
		for range 1 + t.rng.IntN(30) {
			there.post(w.bulk(t.rng.IntN(128 << 10)))
			back.post(w.bulk(t.rng.IntN(2 << 10)))
		}
		if t.rng.IntN(2) == 0 {
			r.step(t.rng.IntN(4))
		}
		r.resume()
		if t.rng.IntN(4) == 0 {
			w.settle()
		}
	}
}

func checkReleased(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	for range 12 {
		// Their own memory, in many pieces, while others are under way.
		for s := range shapes {
			there.post(spec{header: 20, size: min(100_000, w.maxFrame()), shape: s},
				spec{header: 20, size: 300, shape: s, lane: 1})
			back.post(spec{header: 20, size: min(30_000, w.maxFrame()), shape: s})
		}
	}
}

func checkRecall(t *trial) {
	for _, size := range []int{64 << 10, 8 << 10, 1 << 20} {
		w := t.open(2)
		a, b := w.pair()
		there, _ := w.join(a, b)
		rec, ok := there.ep.(btl.Recaller)
		if !ok {
			t.skip("the endpoint is no Recaller; its host closes it instead")
		}
		for range 3 {
			b.stall()
			there.fill(spec{header: 16, size: min(size, w.maxFrame())}, spec{header: 20, size: 100}, spec{header: 16, size: min(20_000, w.maxFrame())})
			there.recall(rec)
			there.post(w.randomSpecs(5, 64<<10)...)
			b.resume()
			w.settle()
		}
		w.close()
		t.check()
	}
}
