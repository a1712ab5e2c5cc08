//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package engine

import (
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// kqueue is the poller of the BSDs and macOS; a pipe carries the kicks. The background
// goroutine dozes in an outer queue with a pipe of its own. While attend is on, the outer queue
// watches the inner one.
// Tokens are kept beside the queue, since the type of Udata differs by system.
type kqueue struct {
	inner, outer queueWithPipe
	start        time.Time
	clock        *time.Timer // of the alarm
	closing      sync.Mutex
	closed       bool
	tokens       map[int]uint64
}

func newPoller() (poller, error) {
	p := &kqueue{inner: noQueue, outer: noQueue, start: time.Now(), tokens: make(map[int]uint64)}
	err := p.inner.open()
	if err == nil {
		err = p.outer.open()
	}
	if err != nil {
		p.close()
		return nil, err
	}
	p.clock = newAlarm(p.ringAlarm)
	return p, nil
}

// queueWithPipe is a queue and a pipe that it watches.
type queueWithPipe struct {
	fd   int
	pipe [2]int
}

var noQueue = queueWithPipe{-1, [2]int{-1, -1}}

func (q *queueWithPipe) open() error {
	fd, err := unix.Kqueue()
	if err != nil {
		return os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(fd)
	q.fd = fd
	if err := unix.Pipe(q.pipe[:]); err != nil {
		q.pipe = noQueue.pipe
		return os.NewSyscallError("pipe", err)
	}
	for _, end := range q.pipe {
		unix.CloseOnExec(end)
		if err := unix.SetNonblock(end, true); err != nil {
			return os.NewSyscallError("fcntl", err)
		}
	}
	return q.change(q.pipe[0], unix.EVFILT_READ, unix.EV_ADD)
}

func (q *queueWithPipe) close() {
	for _, fd := range []int{q.fd, q.pipe[0], q.pipe[1]} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (q *queueWithPipe) change(fd, filter, flags int) error {
	var ev [1]unix.Kevent_t
	unix.SetKevent(&ev[0], fd, filter, flags)
	_, err := unix.Kevent(q.fd, ev[:], nil, nil)
	return os.NewSyscallError("kevent", err)
}

// await waits for events; a negative timeout is none.
func (q *queueWithPipe) await(events []unix.Kevent_t, timeout int64) int {
	var ts *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(timeout)
		ts = &t
	}
	n, err := unix.Kevent(q.fd, nil, events, ts)
	if err != nil {
		return 0
	}
	return n
}

// ring makes the pipe readable, drain makes it unreadable.
func (q *queueWithPipe) ring() { unix.Write(q.pipe[1], []byte{1}) }

func (q *queueWithPipe) drain() {
	var bytes [64]byte
	unix.Read(q.pipe[0], bytes[:])
}

func (p *kqueue) now() int64 { return int64(time.Since(p.start)) }

func (p *kqueue) wait(buf []event, timeout int64) int {
	var events [maxEvents]unix.Kevent_t
	out := 0
	for i := range p.inner.await(events[:], timeout) {
		fd := int(events[i].Ident)
		if fd == p.inner.pipe[0] {
			if timeout != 0 { // else it is for a thread that blocks
				p.inner.drain()
			}
			continue
		}
		if out < len(buf) {
			// The descriptor stands for the token until the caller, under the
			// engine's lock, asks for it: tokens may change meanwhile.
			buf[out] = event{uint64(fd), events[i].Filter == unix.EVFILT_WRITE || events[i].Flags&unix.EV_EOF != 0}
			out++
		}
	}
	return out
}

// resolve turns a descriptor into its token. Called under the engine's lock.
func (p *kqueue) resolve(fd uint64) (uint64, bool) {
	token, ok := p.tokens[int(fd)]
	return token, ok
}

func (p *kqueue) kick()     { p.inner.ring() }
func (p *kqueue) calmDown() { p.inner.drain() }
func (p *kqueue) rouse()    { p.outer.ring() }

func (p *kqueue) alarm(after int64) { p.clock.Reset(time.Duration(after)) }

// ringAlarm rouses, unless the pipe is, or may be, somebody else's by now.
func (p *kqueue) ringAlarm() {
	p.closing.Lock()
	defer p.closing.Unlock()
	if !p.closed {
		p.rouse()
	}
}

func (p *kqueue) doze() bool {
	alone := true
	var events [2]unix.Kevent_t
	for i := range p.outer.await(events[:], -1) {
		if int(events[i].Ident) == p.outer.pipe[0] {
			p.outer.drain()
			alone = false
		}
	}
	return alone
}

func (p *kqueue) attend(on bool) bool {
	if !on {
		p.outer.change(p.inner.fd, unix.EVFILT_READ, unix.EV_DELETE) // only a second removal would fail
		return true
	}
	return p.outer.change(p.inner.fd, unix.EVFILT_READ, unix.EV_ADD) == nil
}

func (p *kqueue) add(fd int, token uint64) error {
	if err := p.inner.change(fd, unix.EVFILT_READ, unix.EV_ADD); err != nil {
		return err
	}
	p.tokens[fd] = token
	return nil
}

func (p *kqueue) write(fd int, _ uint64, on bool) error {
	if on {
		return p.inner.change(fd, unix.EVFILT_WRITE, unix.EV_ADD)
	}
	return p.inner.change(fd, unix.EVFILT_WRITE, unix.EV_DELETE)
}

func (p *kqueue) remove(fd int) {
	delete(p.tokens, fd)
	p.inner.change(fd, unix.EVFILT_READ, unix.EV_DELETE)
	p.inner.change(fd, unix.EVFILT_WRITE, unix.EV_DELETE)
}

func (p *kqueue) close() {
	if p.clock != nil {
		p.clock.Stop()
	}
	p.closing.Lock()
	p.closed = true
	p.closing.Unlock()
	p.outer.close()
	p.inner.close()
}
