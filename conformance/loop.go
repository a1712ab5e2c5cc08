package conformance

import (
	"errors"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// A loop is the [btl.Loop] that a rank's modules see. It checks what they do
// with it and remembers what they have not given back.
type loop struct {
	r       *rank
	inner   btl.Loop
	watches map[*watch]struct{}
	timers  map[*timer]struct{}
}

func newLoop(r *rank) *loop {
	return &loop{r: r, inner: r.gear, watches: map[*watch]struct{}{}, timers: map[*timer]struct{}{}}
}

// inCall checks that a method was called from within a call of the module.
func (l *loop) inCall(method string) bool {
	if l.r.within() {
		return true
	}
	l.r.w.t.violate(ruleSerial, "rank %d: Loop.%s was called from outside the module's calls; only Post may be", l.r.id, method)
	return false
}

var errOutside = errors.New("conformance: the loop was called from outside the module's calls")

func (l *loop) Now() int64 {
	if !l.inCall("Now") {
		return 0
	}
	return l.inner.Now()
}

func (l *loop) Epoch() uint64 {
	if !l.inCall("Epoch") {
		return 0
	}
	return l.inner.Epoch()
}

func (l *loop) Flush(d btl.Deferred) {
	if l.inCall("Flush") {
		l.inner.Flush(deferred{l.r, d})
	}
}

// deferred, like all that the loop calls, notes that the rank is called.
type deferred struct {
	r *rank
	btl.Deferred
}

func (d deferred) Flush() { d.r.called("Deferred.Flush", d.Deferred.Flush) }

func (l *loop) Move(m btl.Mover) {
	if l.inCall("Move") {
		l.inner.Move(mover{l.r, m})
	}
}

// mover notes that the rank is called in Begin and End. In Move it is not: there the loop, the host
// and receivers are out of bounds.
type mover struct {
	r *rank
	btl.Mover
}

func (m mover) Begin(most int) (begun bool) {
	m.r.called("Mover.Begin", func() { begun = m.Mover.Begin(most) })
	return begun
}

func (m mover) Move() {
	m.r.moving(m.Mover.Move)
}

func (m mover) End() (did bool) {
	m.r.called("Mover.End", func() { did = m.Mover.End() })
	return did
}

func (l *loop) Post(f func()) {
	l.inner.Post(func() { l.r.called("a posted function", f) })
}

func (l *loop) After(d time.Duration, f func()) btl.Timer {
	t := &timer{l: l}
	if !l.inCall("After") {
		return t
	}
	l.timers[t] = struct{}{}
	t.inner = l.inner.After(d, func() {
		delete(l.timers, t)
		l.r.called("a timer", f)
	})
	return t
}

type timer struct {
	l     *loop
	inner btl.Timer
}

func (t *timer) Stop() {
	if t.l.inCall("After: Timer.Stop") && t.inner != nil {
		delete(t.l.timers, t)
		t.inner.Stop()
	}
}

func (l *loop) Watch(fd int, h btl.Handler) (btl.Watch, error) {
	if !l.inCall("Watch") {
		return nil, errOutside
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFL, 0); err == nil && flags&unix.O_NONBLOCK == 0 {
		l.r.w.t.violate(ruleNoBlock, "rank %d: descriptor %d is given to the loop and blocks; it must be non-blocking", l.r.id, fd)
	}
	if flags, err := unix.FcntlInt(uintptr(fd), unix.F_GETFD, 0); err == nil && flags&unix.FD_CLOEXEC == 0 {
		l.r.w.t.violate(ruleClean, "rank %d: descriptor %d is given to the loop and not closed on exec: processes that the program starts would keep it open", l.r.id, fd)
	}
	inner, err := l.inner.Watch(fd, handler{l.r, h})
	if err != nil {
		return nil, err
	}
	w := &watch{l: l, fd: fd, inner: inner}
	l.watches[w] = struct{}{}
	return w, nil
}

type handler struct {
	r *rank
	h btl.Handler
}

func (h handler) Poll(writable bool) (did bool) {
	h.r.called("Handler.Poll", func() { did = h.h.Poll(writable) })
	return did
}

type watch struct {
	l     *loop
	fd    int
	inner btl.Watch
}

func (w *watch) Write(on bool) {
	if w.l.inCall("Watch: Watch.Write") {
		w.inner.Write(on)
	}
}

func (w *watch) Stop() {
	if !w.l.inCall("Watch: Watch.Stop") {
		return
	}
	if _, ours := w.l.watches[w]; ours {
		delete(w.l.watches, w)
		if _, err := unix.FcntlInt(uintptr(w.fd), unix.F_GETFD, 0); err != nil {
			w.l.r.w.t.violate(ruleClean, "rank %d: Watch.Stop came after descriptor %d was closed", w.l.r.id, w.fd)
		}
	}
	w.inner.Stop()
}

// sockets returns the watched descriptors.
func (l *loop) sockets() []int {
	fds := make([]int, 0, len(l.watches))
	for w := range l.watches {
		fds = append(fds, w.fd)
	}
	return fds
}

// leftovers complains of what the closed modules have not stopped.
func (l *loop) leftovers() {
	if n := len(l.watches); n > 0 {
		l.r.w.t.violate(ruleClean, "rank %d: %d descriptors are still watched after Module.Close: %v", l.r.id, n, l.sockets())
	}
	if n := len(l.timers); n > 0 {
		l.r.w.t.violate(ruleClean, "rank %d: %d timers are still running after Module.Close", l.r.id, n)
	}
}
