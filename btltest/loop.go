package btltest

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
)

// Timeout is how long [Loop.Until] waits, in real time.
const Timeout = 30 * time.Second

// A Loop is a [btl.Loop] that a test turns by hand. Only Advance moves its time. Descriptors are
// ready when the test says so ([Loop.Poll]). The zero value is ready for use.
type Loop struct {
	now      int64
	epoch    uint64
	timers   []*timer
	watches  []*Watch
	deferred []btl.Deferred
	spare    []btl.Deferred // memory for the next ones
	moves    []btl.Mover

	mu     sync.Mutex // guards what any goroutine may touch
	posted []func()
	news   chan struct{}
}

var _ btl.Loop = (*Loop)(nil)

// A Watch is a descriptor that a module has given to the loop.
type Watch struct {
	loop    *Loop
	FD      int
	Handler btl.Handler
	Writing bool // it waits for room to write
}

// Write implements [btl.Watch].
func (w *Watch) Write(on bool) { w.Writing = on }

// Stop implements [btl.Watch].
func (w *Watch) Stop() {
	w.loop.watches = slices.DeleteFunc(w.loop.watches, func(o *Watch) bool { return o == w })
}

// Watch implements [btl.Loop].
func (l *Loop) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	w := &Watch{loop: l, FD: fd, Handler: h}
	l.watches = append(l.watches, w)
	return w, nil
}

// Watches are the descriptors under watch, in the order in which they came.
func (l *Loop) Watches() []*Watch { return slices.Clone(l.watches) }

// Poll polls each descriptor under watch once, as if it were ready, and reports whether anything was
// done. Every handler has to bear a poll with nothing to do.
func (l *Loop) Poll() bool {
	did := false
	for _, w := range l.Watches() {
		if slices.Contains(l.watches, w) { // another handler may have stopped it
			did = w.Handler.Poll(w.Writing) || did
		}
	}
	return l.makeMoves() || did
}

type timer struct {
	l    *Loop
	at   int64
	f    func()
	runs bool
}

// Stop implements [btl.Timer].
func (t *timer) Stop() { t.runs = false }

// Reset implements [btl.Rearmer].
func (t *timer) Reset(d time.Duration) {
	t.l.Timers() // one that was stopped does not run a second time in another place
	t.at = t.l.now + int64(d)
	if !t.runs {
		t.runs = true
		t.l.timers = append(t.l.timers, t)
	}
}

// After implements [btl.Loop].
func (l *Loop) After(d time.Duration, f func()) btl.Timer {
	t := &timer{l: l, f: f}
	t.Reset(d)
	return t
}

// Timers is how many timers run.
func (l *Loop) Timers() int {
	l.timers = slices.DeleteFunc(l.timers, func(t *timer) bool { return !t.runs })
	return len(l.timers)
}

// Now implements [btl.Loop].
func (l *Loop) Now() int64 { return l.now }

// Epoch implements [btl.Loop]: each turn is a poll.
func (l *Loop) Epoch() uint64 { return l.epoch }

// Flush implements [btl.Loop].
func (l *Loop) Flush(d btl.Deferred) { l.deferred = append(l.deferred, d) }

// Move implements [btl.Loop]. The present poll or the next turn makes the move.
func (l *Loop) Move(m btl.Mover) { l.moves = append(l.moves, m) }

// makeMoves makes the moves that wait, with nothing in between, and reports whether anything was moved.
func (l *Loop) makeMoves() bool {
	moves, did := l.moves, false
	l.moves = nil
	for _, m := range moves {
		if m.Begin(btl.LongMove) {
			m.Move()
			did = m.End() || did
		}
	}
	return did
}

// Post implements [btl.Loop]. Any goroutine may call it.
func (l *Loop) Post(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.posted = append(l.posted, f)
	select {
	case l.bell() <- struct{}{}:
	default:
	}
}

// bell rings when something is posted. Mu is held.
func (l *Loop) bell() chan struct{} {
	if l.news == nil {
		l.news = make(chan struct{}, 1)
	}
	return l.news
}

// Turn does once what is to be done now: it runs what was posted, fires the timers that are due, and
// flushes what was held back, and makes moves. It reports whether there was anything.
func (l *Loop) Turn() bool {
	l.epoch++
	l.mu.Lock()
	todo := l.posted
	l.posted = nil
	l.mu.Unlock()
	did := len(todo) > 0
	for _, f := range todo {
		f()
	}
	for t := l.due(l.now); t != nil; t = l.due(l.now) {
		l.now = max(l.now, t.at)
		t.Stop()
		t.f()
		did = true
	}
	held := l.deferred
	l.deferred, l.spare = l.spare[:0], nil
	for _, d := range held {
		d.Flush()
		did = true
	}
	l.spare = held
	return l.makeMoves() || did
}

// due is the first timer up to a time.
func (l *Loop) due(until int64) *timer {
	l.Timers()
	var first *timer
	for _, t := range l.timers {
		if t.at <= until && (first == nil || t.at < first.at) {
			first = t
		}
	}
	return first
}

// Run turns until there is nothing to do now.
func (l *Loop) Run() {
	for l.Turn() {
	}
}

// Advance moves the clock, with a turn at the time of each timer on the way and at the end.
func (l *Loop) Advance(d time.Duration) {
	end := l.now + int64(d)
	l.Run()
	for t := l.due(end); t != nil; t = l.due(end) {
		l.now = max(l.now, t.at)
		l.Run()
	}
	l.now = end
	l.Run()
}

// Until turns the loop until so returns true, and waits meanwhile for what goroutines post. After
// [Timeout] the test fails; what says what it has waited for. Until polls no descriptors.
func (l *Loop) Until(t testing.TB, what string, so func() bool) {
	t.Helper()
	l.mu.Lock()
	news := l.bell()
	l.mu.Unlock()
	limit := time.NewTimer(Timeout)
	defer limit.Stop()
	for !so() {
		if l.Turn() {
			continue
		}
		select {
		case <-news:
		case <-limit.C:
			t.Fatalf("waited in vain for %s", what)
		}
	}
}
