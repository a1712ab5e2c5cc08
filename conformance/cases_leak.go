package conformance

import (
	"math"
	"runtime"
)

var leakCases = []testCase{
	{"leak-memory", "The memory of a process does not grow with the number of frames.", checkLeakFrames, on(ruleClean)},
	{"leak-endpoints", "The memory of a process does not grow with the number of endpoints that were closed.", checkLeakEndpoints, on(ruleClean)},
	{"leak-worlds", "A module that was closed leaves nothing behind, however often.", checkLeakWorlds, on(ruleClean)},
}

// growth runs f warm times, and returns by how many bytes the heap grows in rounds further runs.
// If that is more than room it measures again, three times in all, and returns the least growth. A
// leak grows each time; buffers only happen to be full at the end of one.
func growth(warm, rounds int, room int64, f func()) (grown int64) {
	heap := func() int64 {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what finalizers and pools have let go
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	for range warm {
		f()
	}
	grown = math.MaxInt64
	for again := 0; again < 3 && grown > room; again++ {
		before := heap()
		for range rounds {
			f()
		}
		grown = min(grown, heap()-before)
	}
	return grown
}

// slack is what the heap may grow for other reasons.
const slack = 1 << 20

func checkLeakFrames(t *trial) {
	w := t.open(2)
	there, back := w.join(w.pair())
	t.mu.Lock()
	back.lay = func(int) plotKind { return plotNothing }
	there.lay = back.lay
	t.mu.Unlock()
	// So many that as little as 50 bytes for each is more than the slack.
	const rounds, frames, times = 10, 250, 8
	size := min(12<<10, w.maxFrame())
	grown := growth(8, rounds, slack, func() {
		for range frames {
			for range times {
				there.post(spec{header: 16, size: 100, shared: true})
			}
			there.post(spec{header: 16, size: size, shared: true})
		}
		w.settle()
	})
	if grown > slack {
		t.fail(ruleClean, "the heap grew by %d bytes during %d frames of 100 bytes, and %d of %d", grown, rounds*frames*times, rounds*frames, size)
	}
}

func checkLeakEndpoints(t *trial) {
	w := t.open(2)
	a, b := w.pair()
	const rounds = 60
	grown := growth(20, rounds, slack, func() {
		there, back := w.join(a, b)
		t.falls(back)
		there.close()
		if a != b {
			t.await(ruleNoticed, "the peer to notice that an endpoint was closed", func() bool { return back.downs > 0 })
			back.close()
		}
		w.forget()
	})
	if grown > slack {
		t.fail(ruleClean, "the heap grew by %d bytes while %d endpoints were connected and closed", grown, rounds)
	}
}

// forget lets go of all ports that are closed.
func (w *world) forget() {
	w.t.mu.Lock()
	defer w.t.mu.Unlock()
	open := w.ports[:0:0]
	for _, p := range w.ports {
		if !p.closed {
			open = append(open, p)
		}
	}
	w.ports = open
}

func checkLeakWorlds(t *trial) {
	const rounds = 10
	grown := growth(3, rounds, 2*slack, func() {
		w := t.open(2)
		there, back := w.join(w.pair())
		there.post(w.randomSpecs(20, 64<<10)...)
		back.post(w.randomSpecs(20, 64<<10)...)
		w.settle()
		w.close()
		t.mu.Lock()
		t.worlds = nil
		t.mu.Unlock()
	})
	if grown > 2*slack {
		t.fail(ruleClean, "the heap grew by %d bytes while %d worlds were opened and closed", grown, rounds)
	}
}
