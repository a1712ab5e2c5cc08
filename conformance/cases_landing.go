package conformance

var landingCases = []testCase{
	{"landing", "A payload is read into the memory that Begin gave: one piece, many, too little, none; margins stay as they are.", checkLanding, on(ruleLanding, ruleGuard, ruleRevoke)},
	{"revoke", "A landing revoked in the middle of a frame is not written to any more, and the frame still ends.", checkRevoke, on(ruleRevoke)},
	{"late-bytes", "A frame stalls in the middle, its landing is revoked and the memory takes another frame: the rest, when it comes, does not touch it, and the frame still ends.", checkLateBytes, on(ruleRevoke, ruleReliable)},
	{"late-end", "A frame whose landing was revoked breaks off with its connection: Drop, and the memory is left alone.", checkLateEnd, on(ruleLanding, ruleRevoke)},
	{"refusal", "A receiver that refuses a frame loses the connection, on both sides, and nothing else.", checkRefusal, on(ruleRefusal, ruleHarmless)},
}

func checkLanding(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	there, back := w.join(a, b)
	begun := 0
	for kind := range plotKinds {
		t.mu.Lock()
		back.lay = func(int) plotKind { return kind }
		back.onBegin = func(*plot) { begun++ }
		t.mu.Unlock()
		for _, size := range []int{1, 2, 4 << 10, 8<<10 + 1, 16 << 10, 65_537, 256 << 10, 1<<20 + 3} {
			there.post(spec{header: 16, size: min(size, w.maxFrame()), shape: whole})
		}
		w.settle()
	}
	if begun == 0 {
		t.skip("the module delivers frames whole, in one step")
	}
}

// halfway turns the ranks until a frame stands half arrived at p, and returns
// its plot; nil if the frame is there before it was seen in the middle.
func (w *world) halfway(p *port, arrivals uint64) (open *plot) {
	w.stepsUntil(ruleReliable, "a frame to arrive", func() bool {
		open = p.halfArrived()
		return open != nil || w.book.arrivals > arrivals
	})
	return open
}

// halfArrived is the plot of a frame of which some bytes are there and some are
// not, or nil. Mu is held.
func (p *port) halfArrived() *plot {
	for l, pl := range p.landings {
		if left := l.Left(); left > 0 && left < pl.sh.size {
			return pl
		}
	}
	return nil
}

func (t *trial) arrivals(w *world) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return w.book.arrivals
}

// long is a frame that takes more than one poll to arrive, if that can be had.
func (w *world) long() spec {
	return spec{header: 16, size: min(8<<20, w.maxFrame()), shared: w.maxFrame() <= period}
}

func checkRevoke(t *trial) {
	w := t.open(2)
	w.needReliable()
	there, back := w.join(w.pair())
	t.mu.Lock()
	back.lay = func(int) plotKind { return plotKind(t.noise.IntN(2)) }
	t.mu.Unlock()
	w.stallAll()
	met := 0
	for range 12 {
		before := t.arrivals(w)
		there.post(w.long(), spec{header: 16, size: 100})
		if pl := w.halfway(back, before); pl != nil {
			met++
			w.someSteps(3)
			back.revoke(pl)
		}
		w.stepsUntil(ruleReliable, "a revoked frame and the next one to arrive", func() bool { return w.book.pending == 0 })
	}
	met += revokeNearTheEnd(w, there, back)
	w.resumeAll()
	if met == 0 {
		w.settle()
		t.skip("no frame ever stood half arrived between two polls")
	}
}

// revokeNearTheEnd revokes frames of which less is missing than one read may bring, so that the
// next frame comes with the rest. It returns how many such frames it has met.
func revokeNearTheEnd(w *world, there, back *port) (met int) {
	if there.r == back.r {
		return 0
	}
	w.t.mu.Lock()
	back.lay = func(int) plotKind { return plotWhole }
	w.t.mu.Unlock()
	for _, size := range []int{10 << 10, 11 << 10, 12 << 10, 14 << 10} {
		there.fill(w.bulk(size))
		if pl := w.starve(back); pl != nil {
			met++
			back.revoke(pl)
		}
		w.stepsUntil(ruleReliable, "a revoked frame and those behind it to arrive", func() bool { return w.book.pending == 0 })
	}
	return met
}

func checkRefusal(t *trial) {
	for _, step := range []string{"Deliver", "Begin", "End"} {
		for _, size := range []int{10, 256 << 10} {
			refuse(t, step, size)
		}
	}
}

func refuse(t *trial, step string, size int) {
	w := t.open(3)
	a, b := w.pair()
	there, back := w.join(a, b)
	other := there
	if a != b {
		other, _ = w.join(a, w.ranks[1])
	}
	refused := false
	t.mu.Lock()
	there.mayFall, back.mayFall = true, true
	back.refuse = func(s string) error {
		if s != step {
			return nil
		}
		refused = true
		return errStranger
	}
	t.mu.Unlock()
	frame := spec{header: 16, size: min(size, w.maxFrame())}
	there.post(frame)
	t.await(ruleRefusal, "the frame that "+step+" refuses to arrive in another step, or its connection to end", func() bool {
		return back.downs > 0 && there.downs > 0 || !refused && w.book.pending == 0
	})
	if other != there {
		other.post(frame)
	}
	w.settle()
	w.close()
}
