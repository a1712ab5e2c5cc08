package conformance

// stallAll stops all ranks, so that stepsUntil turns them.
func (w *world) stallAll() {
	for _, r := range w.ranks {
		r.stall()
	}
}

func (w *world) resumeAll() {
	for _, r := range w.ranks {
		r.resume()
	}
}

// stepsUntil turns the stalled ranks in random order until the condition, which
// is evaluated under mu, holds.
func (w *world) stepsUntil(r Rule, what string, cond func() bool) {
	for !w.t.holds(cond) {
		w.t.patience(r, what)
		w.anyRank().step(1)
	}
	w.t.check()
}

// holds evaluates a condition under mu.
func (t *trial) holds(cond func() bool) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cond()
}

// someSteps turns the stalled ranks a few times.
func (w *world) someSteps(most int) {
	for range w.t.rng.IntN(most + 1) {
		w.anyRank().step(1)
	}
}

func (w *world) anyRank() *rank { return w.ranks[w.t.rng.IntN(len(w.ranks))] }
