package btl

import "time"

// A Loop is the progress engine as a transport sees it: it watches descriptors
// and clocks and calls back. All methods but Post are for the module's calls
// only (see "Threads" in the package comment).
type Loop interface {
	// Watch calls h.Poll when the descriptor is readable, and when it is
	// writable while [Watch.Write] is on. The descriptor is non-blocking and
	// closed on exec, so that no process that the program starts keeps a connection open. It
	// must not be registered in Go's own poller.
	Watch(fd int, h Handler) (Watch, error)
	// Now is the monotonic time in nanoseconds, as of the last poll or later.
	Now() int64
	// After calls f once after d unless the timer is stopped first.
	After(d time.Duration, f func()) Timer
	// Epoch changes with every poll. An endpoint that sends compares it with
	// the value at its last send. If it is the same, this is not the first frame
	// since the last poll, and the frame may be held back for [Loop.Flush]. A
	// [Burst] sees pauses too.
	Epoch() uint64
	// Flush has h.Flush called at the next poll, or within a fraction of a
	// millisecond if no poll comes. When a program that has polled for long turns
	// to computing it may take some ms, once.
	Flush(h Deferred)
	// Move has m move its bytes without the loop's lock: soon, once the present call of the module
	// has returned. The module sees to it that m is not given again before its End, or before its
	// Begin has reported false.
	Move(m Mover)
	// Post runs f in the loop, soon. Any goroutine may call it.
	Post(f func())
}

// A Helped loop takes account of the goroutines of transports. Optional; a transport looks
// for it when it is opened.
type Helped interface {
	// Helpers adds delta to the number of goroutines whose work waiters wait for. As a rule a
	// waiter parks if it gets the processor back late, since others need the processor. While
	// there are helpers it does not park: it may be they who had the processor, and a parked
	// waiter needs another thread to wake it for each message.
	Helpers(delta int)
}

// A Census is a loop that knows whether the ranks of its host outnumber the processors. Optional; a transport
// looks for it when it is opened.
type Census interface {
	// Crowded reports whether they do. Then the peer's work and this rank's take their time from the same
	// processors: what both of them do together counts, not how soon one of them is done.
	Crowded() bool
}

// A Handler reacts to a descriptor.
type Handler interface {
	// Poll reads and writes what is possible without waiting. Writable says
	// that the system reported room to write; reading is always to be tried.
	// The result says whether anything was done.
	Poll(writable bool) bool
}

// Deferred is something that has frames held back.
type Deferred interface{ Flush() }

// A Watch is a descriptor under watch.
type Watch interface {
	// Write switches the interest in room to write.
	Write(on bool)
	// Stop ends the watch. The descriptor must still be open.
	Stop()
}

// A Timer can be stopped; stopping one that has fired does nothing.
type Timer interface{ Stop() }

// A Rearmer is a timer that can be set anew, and takes no new memory for that. Optional; who sets
// timers all the time looks for it.
type Rearmer interface {
	Timer
	// Reset has the function called once after d, whether the timer runs, was stopped or has fired.
	Reset(d time.Duration)
}
