package engine

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kickToken is the token of the eventfd; watches never have it.
const kickToken = ^uint64(0)

// innerToken is the token that the inner set has in the others, clockToken that of the clock.
const (
	innerToken = kickToken - 1
	clockToken = kickToken - 2
)

// epoll is the poller of Linux: a private epoll set and an eventfd for kicks. The background
// goroutine dozes beside an outer set with an eventfd of its own and a clock. While attend is on,
// the outer set watches the inner one.
//
// Who waits for long waits before a third set, the front, which has nothing but the inner one. What a socket wakes it wakes as
// one who is about to have the processor of who wakes it, since that one will sleep (sock_def_readable; newer kernels pass that on through epoll). A rank that
// sends goes on, and whom it has woken so on its own processor waits there for a turn, some ms, while others are idle. One set does not wake another in that way.
//
// The outer set is in Go's own poller. A goroutine that blocked in the system would keep a
// processor of Go's until the runtime's monitor takes that away. Then the monitor stays alert for
// milliseconds: it wakes every 20 µs, on the processors of those that talk.
type epoll struct {
	fd, eventfd int
	front       int // who waits for long does so before it
	outer, bell int
	clock       int      // a timerfd
	file        *os.File // of the outer set, which it owns
	conn        syscall.RawConn
	alerted     func(fd uintptr) bool
	start       time.Time
	scratch     [maxEvents]unix.EpollEvent // for polls, which happen under the engine's lock
	alert       [3]unix.EpollEvent         // for the background goroutine
	alone       bool                       // of those only the inner set
}

func newPoller() (poller, error) {
	p := &epoll{fd: -1, eventfd: -1, front: -1, outer: -1, bell: -1, clock: -1, start: time.Now()}
	if err := p.open(); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *epoll) open() (err error) {
	if p.fd, p.eventfd, err = newSet(); err != nil {
		return err
	}
	if p.outer, p.bell, err = newSet(); err != nil {
		return err
	}
	if p.front, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if err = control(p.front, unix.EPOLL_CTL_ADD, p.fd, innerToken, unix.EPOLLIN); err != nil {
		return err
	}
	if p.clock, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	// By its edge: then nobody has to read it.
	if err = control(p.outer, unix.EPOLL_CTL_ADD, p.clock, clockToken, unix.EPOLLIN|unix.EPOLLET); err != nil {
		return err
	}
	if err = unix.SetNonblock(p.outer, true); err != nil { // os.NewFile wants it
		return os.NewSyscallError("fcntl", err)
	}
	p.file = os.NewFile(uintptr(p.outer), "progress engine")
	p.alerted = func(uintptr) bool { return p.alerts() }
	p.conn, err = awaited(p.file)
	return err
}

// awaited is a descriptor that a goroutine can wait for in Go's own poller. [os.NewFile] does not tell if
// the system had no room for it there. Each wait would end at once then, with an error.
func awaited(f *os.File) (syscall.RawConn, error) {
	if err := f.SetReadDeadline(time.Time{}); err != nil {
		return nil, fmt.Errorf("%s is not in Go's own poller: %w", f.Name(), err)
	}
	return f.SyscallConn()
}

// newSet makes an epoll set with an eventfd in it.
func newSet() (set, efd int, err error) {
	if set, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return -1, -1, os.NewSyscallError("epoll_create1", err)
	}
	if efd, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return set, -1, os.NewSyscallError("eventfd", err)
	}
	return set, efd, control(set, unix.EPOLL_CTL_ADD, efd, kickToken, unix.EPOLLIN)
}

func (p *epoll) now() int64 { return int64(time.Since(p.start)) }

func (p *epoll) wait(buf []event, timeout int64) int {
	if timeout == 0 {
		return p.translate(buf, p.look(p.scratch[:]), false)
	}
	ms := -1
	if timeout > 0 {
		ms = int(min((timeout+999_999)/1_000_000, 1<<30))
	}
	var ready [maxEvents]unix.EpollEvent
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.front),
		uintptr(unsafe.Pointer(&ready[0])), 1, uintptr(ms), 0, 0)
	if errno != 0 || n == 0 {
		return 0
	}
	return p.translate(buf, p.look(ready[:]), true)
}

// look returns the events that there are. It can not block, so Go's scheduler need not know of it.
func (p *epoll) look(ready []unix.EpollEvent) []unix.EpollEvent {
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&ready[0])), uintptr(len(ready)), 0, 0, 0)
	if errno != 0 {
		return nil
	}
	return ready[:n]
}

func (p *epoll) doze() bool {
	_ = p.conn.Read(p.alerted) // it fails when the set is closed, after the last doze
	return p.alone
}

// alerts reports whether there is something for the background goroutine.
func (p *epoll) alerts() bool {
	ready := &p.alert
	n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.outer),
		uintptr(unsafe.Pointer(&ready[0])), uintptr(len(ready)), 0, 0, 0)
	if errno != 0 {
		return false
	}
	p.alone = n == 1 && tokenOf(&ready[0]) == innerToken
	for i := range ready[:n] {
		if tokenOf(&ready[i]) == kickToken {
			drain(p.bell)
		}
	}
	return n > 0
}

func (p *epoll) alarm(after int64) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(after)}
	_ = unix.TimerfdSettime(p.clock, 0, &spec, nil) // it fails for senseless times only
}

func (p *epoll) attend(on bool) bool {
	if !on {
		_ = control(p.outer, unix.EPOLL_CTL_DEL, p.fd, 0, 0) // only a second removal would fail
		return true
	}
	err := control(p.outer, unix.EPOLL_CTL_ADD, p.fd, innerToken, unix.EPOLLIN)
	return err == nil || errors.Is(err, unix.EEXIST)
}

// translate turns the system's events into ours. Only a blocking wait takes a kick
// out: one that does not block would take it from the thread that the kick is for.
func (p *epoll) translate(buf []event, ready []unix.EpollEvent, blocking bool) int {
	n := 0
	for i := range ready {
		token := tokenOf(&ready[i])
		if token == kickToken {
			if blocking {
				drain(p.eventfd)
			}
			continue
		}
		if n < len(buf) {
			buf[n] = event{token, ready[i].Events&(unix.EPOLLOUT|unix.EPOLLERR|unix.EPOLLHUP) != 0}
			n++
		}
	}
	return n
}

func tokenOf(ev *unix.EpollEvent) uint64 {
	return uint64(uint32(ev.Fd)) | uint64(uint32(ev.Pad))<<32
}

func (p *epoll) kick()     { ring(p.eventfd) }
func (p *epoll) calmDown() { drain(p.eventfd) }
func (p *epoll) rouse()    { ring(p.bell) }

// ring makes an eventfd readable.
func ring(efd int) {
	one := [8]byte{1}
	if isBigEndian {
		one = [8]byte{7: 1}
	}
	// A full counter (EAGAIN) has the effect that is wanted.
	_, _ = unix.Write(efd, one[:])
}

// drain makes it unreadable.
func drain(efd int) {
	var count [8]byte
	_, _ = unix.Read(efd, count[:]) // EAGAIN: it is unreadable already
}

var isBigEndian = func() bool { x := uint16(1); return *(*byte)(unsafe.Pointer(&x)) == 0 }()

func control(set, op, fd int, token uint64, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(set, op, fd, &ev))
}

func (p *epoll) add(fd int, token uint64) error {
	return control(p.fd, unix.EPOLL_CTL_ADD, fd, token, unix.EPOLLIN)
}

func (p *epoll) write(fd int, token uint64, on bool) error {
	var events uint32 = unix.EPOLLIN
	if on {
		events |= unix.EPOLLOUT
	}
	return control(p.fd, unix.EPOLL_CTL_MOD, fd, token, events)
}

func (p *epoll) remove(fd int) { _ = control(p.fd, unix.EPOLL_CTL_DEL, fd, 0, 0) }

func (p *epoll) close() {
	if p.file != nil {
		p.file.Close()
		p.outer = -1
	}
	for _, fd := range []int{p.clock, p.bell, p.outer, p.front, p.eventfd, p.fd} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}
