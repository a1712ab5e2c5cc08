package engine

import (
	"container/heap"
	"time"

	"github.com/strandmp/strand/btl"
)

// timer is one pending call.
type timer struct {
	e     *Engine
	when  int64
	order uint64 // among those of the same time
	f     func()
	index int // in the heap, −1 when not in it
}

type timerHeap []*timer

func (h timerHeap) Len() int { return len(h) }
func (h timerHeap) Less(i, j int) bool {
	return h[i].when < h[j].when || h[i].when == h[j].when && h[i].order < h[j].order
}
func (h timerHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].index, h[j].index = i, j
}
func (h *timerHeap) Push(x any) {
	t := x.(*timer)
	t.index = len(*h)
	*h = append(*h, t)
}
func (h *timerHeap) Pop() any {
	old := *h
	t := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	t.index = -1
	return t
}

// After implements [btl.Loop].
func (e *Engine) After(d time.Duration, f func()) btl.Timer {
	t := &timer{e: e, f: f, index: -1}
	t.Reset(d)
	return t
}

// Reset implements [btl.Rearmer].
func (t *timer) Reset(d time.Duration) {
	t.Stop()
	e := t.e
	e.timed++
	t.when, t.order = e.poller.now()+int64(max(d, 0)), e.timed
	heap.Push(&e.timers, t)
	if t.index == 0 {
		e.nudge() // whoever is parked sleeps too long
	}
}

// Stop implements [btl.Timer].
func (t *timer) Stop() {
	if t.index >= 0 {
		heap.Remove(&t.e.timers, t.index)
		t.index = -1
	}
}

// fire makes the calls that are due. What they set off anew, even at once, waits
// for the next poll.
func (e *Engine) fire() bool {
	did := false
	last := e.timed
	for len(e.timers) > 0 && e.timers[0].when <= e.clock && e.timers[0].order <= last {
		t := heap.Pop(&e.timers).(*timer)
		t.f()
		did = true
	}
	return did
}

// next is the time of the next timer, or [forever].
func (e *Engine) next() int64 {
	if len(e.timers) == 0 {
		return forever
	}
	return e.timers[0].when
}

// untilTimer is the time until the next timer in nanoseconds, or −1.
func (e *Engine) untilTimer() int64 {
	if len(e.timers) == 0 {
		return -1
	}
	return max(e.timers[0].when-e.poller.now(), 1)
}
