package conformance

import (
	"slices"

	"github.com/strandmp/strand/btl"
)

var frameCases = []testCase{
	{"sizes", "A payload of any size up to MaxFrame arrives: sizes around every limit that the module states and around those that implementations tend to have.", checkSizes, on(ruleIntact, ruleStaysUp)},
	{"headers", "A header of any length from 1 to MaxHeader arrives unchanged, with and without a payload.", checkHeaders, on(ruleIntact)},
	{"vectors", "A payload arrives the same however it is cut: empty pieces, pieces of one byte, more pieces than one writev takes.", checkVectors, on(ruleIntact, ruleLent, ruleStaysUp)},
	{"oversize", "A frame larger than MaxFrame is refused, or arrives whole; it is never cut, and nothing hangs.", checkOversize, on(ruleIntact)},
	{"exactly-once", "Each frame that was taken arrives, once, unchanged; random sizes, shapes, headers and lanes.", checkOnce, on(ruleReliable, ruleOnce, ruleIntact, ruleResult, ruleAccept, ruleNoBlock)},
	{"lane-order", "The frames of a lane arrive in the order of Send, if the module is Ordered.", checkLaneOrder, on(ruleOrdered, ruleStaysUp)},
	{"counters", "Counters and Queued agree with what was sent and received.", checkCounters, on(ruleCounters)},
}

// largest is the most that one frame carries here, were MaxFrame without limit.
const largest = 32 << 20

func (w *world) maxFrame() int { return min(w.attr.MaxFrame, largest) }

// sizes returns the payloads around all limits, sorted.
func (w *world) sizes() []int {
	limits := []int{1, 8, 64, 256, 1 << 10, 1460, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10,
		1 << 20, w.attr.EagerLimit, w.attr.BestFrame, w.maxFrame(), w.maxFrame() / 2}
	sizes := []int{}
	for _, limit := range limits {
		for _, n := range []int{limit - 1, limit, limit + 1} {
			if n >= 0 && n <= w.maxFrame() {
				sizes = append(sizes, n)
			}
		}
	}
	slices.Sort(sizes)
	return slices.Compact(sizes)
}

func checkSizes(t *trial) {
	w := t.open(2)
	p := w.connect(w.pair())
	sizes := w.sizes()
	for _, size := range sizes {
		p.post(spec{header: 24, size: size})
	}
	w.settle()
	// The limits of 4 KB and 8 KB may count header and all.
	for _, limit := range []int{4 << 10, 8 << 10} {
		if limit > w.maxFrame() {
			continue
		}
		for less := range btl.MaxHeader + 16 {
			p.post(spec{header: 12 + less%(btl.MaxHeader-11), size: limit - less, lane: less})
		}
	}
	w.settle()
	t.rng.Shuffle(len(sizes), func(i, j int) { sizes[i], sizes[j] = sizes[j], sizes[i] })
	for i, size := range sizes {
		p.post(spec{header: 24, size: size, lane: i})
	}
}

func checkHeaders(t *trial) {
	w := t.open(2)
	p := w.connect(w.pair())
	for n := 1; n <= btl.MaxHeader; n++ {
		p.post(spec{header: n}, spec{header: n, size: 1, lane: n}, spec{header: n, size: 5000 % w.maxFrame()})
		if n < 4 {
			w.settle() // short headers are hard to tell apart
		}
	}
	w.settle()
	for n := btl.MaxHeader; n > 3; n-- {
		p.post(spec{header: n, size: min(20<<10, w.maxFrame())}, spec{header: n})
	}
}

func checkVectors(t *trial) {
	w := t.open(2)
	p := w.connect(w.pair())
	for _, size := range []int{0, 1, 2, 7, 1023, 1024, 1025, manyPieces, 4 << 10, 70_000, 1 << 20} {
		for s := range shapes {
			p.post(spec{header: 16, size: min(size, w.maxFrame()), shape: s, lane: int(s)})
		}
	}
}

func checkOversize(t *trial) {
	if w := t.open(2); w.attr.MaxFrame >= largest {
		w.join(w.pair())
		t.skip("MaxFrame is so large that a larger frame is not tried")
	}
	for _, more := range []int{1, 4096} {
		w := t.open(2)
		there, back := w.join(w.pair())
		t.mu.Lock()
		there.mayFall, back.mayFall = true, true
		t.mu.Unlock()
		there.post(spec{header: 16, size: w.attr.MaxFrame + more})
		t.await(ruleIntact, "a frame larger than MaxFrame to arrive or to be refused", func() bool {
			return there.downs > 0 || back.downs > 0 || (w.book.pending == 0 && there.sent.frames == 2 && !there.sawBroken)
		})
	}
}

// randomSpec is a frame of any kind, small ones being more frequent.
func (w *world) randomSpec(most int) spec {
	rng := w.t.noise
	size := rng.IntN(64)
	switch rng.IntN(10) {
	case 0:
		size = 0
	case 1, 2, 3:
		size = rng.IntN(4 << 10)
	case 4, 5:
		size = rng.IntN(64 << 10)
	case 6:
		size = rng.IntN(512 << 10)
	}
	return spec{
		header: 12 + rng.IntN(btl.MaxHeader-11),
		size:   min(size, most, w.maxFrame()),
		shape:  shape(rng.IntN(int(shapes))),
		lane:   rng.IntN(2*w.attr.Lanes + 1),
	}
}

func (w *world) randomSpecs(n, most int) []spec {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	specs := make([]spec, n)
	for i := range specs {
		specs[i] = w.randomSpec(most)
	}
	return specs
}

func checkOnce(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	for range 10 {
		there.post(w.randomSpecs(40, 1<<20)...)
		back.post(w.randomSpecs(10, 1<<20)...)
	}
}

func checkLaneOrder(t *trial) {
	w := t.open(2)
	there, _ := w.join(w.pair())
	// A large frame before small ones tempts a transport to let these overtake.
	lanes := []int{btl.ControlLane, btl.UrgentLane, btl.UrgentLane - 1, 1000}
	for lane := range 2*w.attr.Lanes + 1 {
		lanes = append(lanes, lane)
	}
	for _, lane := range lanes {
		there.post(spec{header: 16, size: min(1<<20, w.maxFrame()), lane: lane}, spec{header: 16, size: 10, lane: lane},
			spec{header: 16, size: min(4<<10, w.maxFrame()), lane: lane}, spec{header: 16, lane: lane})
	}
	w.settle()
	for range 20 {
		there.post(w.randomSpecs(50, 64<<10)...)
	}
}

func checkCounters(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	_, flushes := there.ep.(btl.Flusher)
	counts := false
	there.r.do("Report", func() { counts = there.counters() != nil })
	if !counts && !flushes {
		t.skip("the endpoint neither reports counters nor is a Flusher")
	}
	there.post(w.randomSpecs(100, 64<<10)...)
	w.settle()
	for _, p := range []*port{there, back} {
		p.r.do("Report", func() { compareCounters(p) })
	}
}

// counters are what the endpoint reports to have carried; nil if it does not count.
func (p *port) counters() (c *btl.Counters) {
	if reporter, ok := p.ep.(btl.Reporter); ok {
		c = reporter.Report().Counters
	}
	return c
}

func compareCounters(p *port) {
	t := p.w.t
	t.mu.Lock()
	sent, received := p.sent, p.received
	t.mu.Unlock()
	if f, ok := p.ep.(btl.Flusher); ok {
		f.Flush()
		if n := f.Queued(); n != 0 {
			t.violate(ruleCounters, "%v: Queued is %d though all has arrived", p, n)
		}
	}
	c := p.counters()
	if c == nil {
		return
	}
	if c.FramesSent != sent.frames || c.FramesReceived != received.frames {
		t.violate(ruleCounters, "%v: counts %d frames sent and %d received; it took %d and delivered %d",
			p, c.FramesSent, c.FramesReceived, sent.frames, received.frames)
	}
	if c.BytesSent < sent.bytes || c.BytesReceived < received.bytes {
		t.violate(ruleCounters, "%v: counts %d bytes sent and %d received; headers and payloads alone are %d and %d",
			p, c.BytesSent, c.BytesReceived, sent.bytes, received.bytes)
	}
	if c.BytesSent > sent.atMost() || c.BytesReceived > received.atMost() {
		t.violate(ruleCounters, "%v: counts %d bytes sent and %d received; headers and payloads are %d and %d, and no transport adds so much to them",
			p, c.BytesSent, c.BytesReceived, sent.bytes, received.bytes)
	}
}
