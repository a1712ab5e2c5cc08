package engine

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// A look at the descriptors is a system call. It takes longer than a message over shared memory, on some virtual machines as long as ten. So
// the next one is due lookShare times as long after it as it takes, within these bounds.
const (
	lookShare   = 64
	soonestLook = int64(20 * time.Microsecond)
	latestLook  = int64(100 * time.Microsecond)
)

// lookPeriod is how long after a look the next one is due.
func lookPeriod(p poller) int64 {
	var events [1]event
	takes := latestLook
	for range 8 { // some are interrupted
		from := p.now()
		p.wait(events[:], 0)
		takes = min(takes, p.now()-from)
	}
	return min(max(lookShare*takes, soonestLook), latestLook)
}

// lookIsDue reports whether the last look at the descriptors is too long ago, or has found something.
// There may be more then, and who has looked at the source alone would give up the processor before
// it. Where others want that too, the rest would come one frame at a time, each after their turn.
func (e *Engine) lookIsDue() bool {
	if e.found {
		return true
	}
	if e.skipped++; e.skipped < clockPolls {
		return false
	}
	e.skipped = 0
	e.clock = e.poller.now()
	if e.move != nil {
		e.nearby.polls(e.clock)
	}
	return e.clock-e.looked >= e.lookAfter
}

// pollDescriptors looks at all descriptors, the source's too, and at the clock.
func (e *Engine) pollDescriptors(source btl.Poller) bool {
	e.skipped, e.found = 0, false
	e.clock = e.poller.now()
	e.looked = e.clock
	n := e.poller.wait(e.events[:], 0)
	did := false
	if n > 0 {
		did = e.dispatch(e.events[:n])
		e.found = did && (n > 1 || !e.isOf(e.events[0], source))
	}
	return e.fire() || did
}

// isOf reports whether the event is that of the source's descriptor.
func (e *Engine) isOf(ev event, source btl.Poller) bool {
	watched, ok := source.(btl.Watched)
	if !ok {
		return false
	}
	w, ok := watched.Watch().(*watch)
	return ok && w.token == ev.token
}
