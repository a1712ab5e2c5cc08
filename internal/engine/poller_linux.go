package engine

import (
	"os"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// kickToken is the token of the eventfd; watches never have it.
const kickToken = ^uint64(0)

// epoll is the poller of Linux: a private epoll set and an eventfd for kicks.
type epoll struct {
	fd, eventfd int
	start       time.Time
	scratch     [maxEvents]unix.EpollEvent // for polls, which happen under the engine's lock
}

func newPoller() (poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("epoll_create1", err)
	}
	efd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("eventfd", err)
	}
	p := &epoll{fd: fd, eventfd: efd, start: time.Now()}
	if err := p.add(efd, kickToken); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *epoll) now() int64 { return int64(time.Since(p.start)) }

func (p *epoll) wait(buf []event, timeout int64) int {
	if timeout == 0 {
		// It can not block, so the scheduler need not know of it.
		n, _, errno := unix.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
			uintptr(unsafe.Pointer(&p.scratch[0])), maxEvents, 0, 0, 0)
		if errno != 0 {
			return 0
		}
		return p.translate(buf, p.scratch[:n], false)
	}
	ms := -1
	if timeout > 0 {
		ms = int(min((timeout+999_999)/1_000_000, 1<<30))
	}
	var ready [maxEvents]unix.EpollEvent
	n, _, errno := unix.Syscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd),
		uintptr(unsafe.Pointer(&ready[0])), maxEvents, uintptr(ms), 0, 0)
	if errno != 0 {
		return 0
	}
	return p.translate(buf, ready[:n], true)
}

// translate turns the system's events into ours. Only a blocking wait takes the
// kick out: one that does not block would take it from the thread it is for.
func (p *epoll) translate(buf []event, ready []unix.EpollEvent, blocking bool) int {
	n := 0
	for i := range ready {
		token := uint64(uint32(ready[i].Fd)) | uint64(uint32(ready[i].Pad))<<32
		if token == kickToken {
			if blocking {
				var drain [8]byte
				_, _ = unix.Read(p.eventfd, drain[:]) // EAGAIN: it is empty already
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

func (p *epoll) kick() {
	one := [8]byte{1}
	if isBigEndian {
		one = [8]byte{7: 1}
	}
	// A full counter (EAGAIN) has the effect that is wanted.
	_, _ = unix.Write(p.eventfd, one[:])
}

var isBigEndian = func() bool { x := uint16(1); return *(*byte)(unsafe.Pointer(&x)) == 0 }()

func (p *epoll) control(op, fd int, token uint64, events uint32) error {
	ev := unix.EpollEvent{Events: events, Fd: int32(uint32(token)), Pad: int32(uint32(token >> 32))}
	return os.NewSyscallError("epoll_ctl", unix.EpollCtl(p.fd, op, fd, &ev))
}

func (p *epoll) add(fd int, token uint64) error {
	return p.control(unix.EPOLL_CTL_ADD, fd, token, unix.EPOLLIN)
}

func (p *epoll) write(fd int, token uint64, on bool) error {
	var events uint32 = unix.EPOLLIN
	if on {
		events |= unix.EPOLLOUT
	}
	return p.control(unix.EPOLL_CTL_MOD, fd, token, events)
}

func (p *epoll) remove(fd int) { _ = p.control(unix.EPOLL_CTL_DEL, fd, 0, 0) }

func (p *epoll) close() {
	unix.Close(p.eventfd)
	unix.Close(p.fd)
}
