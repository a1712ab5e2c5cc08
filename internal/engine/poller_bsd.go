//go:build darwin || freebsd || netbsd || openbsd || dragonfly

package engine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// kqueue is the poller of the BSDs and macOS; a pipe carries the kicks.
// Tokens are kept beside the queue, since the type of Udata differs by system.
type kqueue struct {
	fd     int
	pipe   [2]int
	start  time.Time
	tokens map[int]uint64
}

func newPoller() (poller, error) {
	fd, err := unix.Kqueue()
	if err != nil {
		return nil, os.NewSyscallError("kqueue", err)
	}
	unix.CloseOnExec(fd)
	p := &kqueue{fd: fd, start: time.Now(), tokens: make(map[int]uint64)}
	if err := unix.Pipe(p.pipe[:]); err != nil {
		unix.Close(fd)
		return nil, os.NewSyscallError("pipe", err)
	}
	for _, end := range p.pipe {
		unix.CloseOnExec(end)
		if err := unix.SetNonblock(end, true); err != nil {
			p.close()
			return nil, os.NewSyscallError("fcntl", err)
		}
	}
	if err := p.change(p.pipe[0], unix.EVFILT_READ, unix.EV_ADD); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *kqueue) now() int64 { return int64(time.Since(p.start)) }

func (p *kqueue) change(fd, filter, flags int) error {
	var ev [1]unix.Kevent_t
	unix.SetKevent(&ev[0], fd, filter, flags)
	_, err := unix.Kevent(p.fd, ev[:], nil, nil)
	return os.NewSyscallError("kevent", err)
}

func (p *kqueue) wait(buf []event, timeout int64) int {
	var events [maxEvents]unix.Kevent_t
	var ts *unix.Timespec
	if timeout >= 0 {
		t := unix.NsecToTimespec(timeout)
		ts = &t
	}
	n, err := unix.Kevent(p.fd, nil, events[:], ts)
	if err != nil {
		return 0
	}
	out := 0
	for i := range events[:n] {
		fd := int(events[i].Ident)
		if fd == p.pipe[0] {
			if timeout != 0 { // else it is for a thread that blocks
				var drain [64]byte
				unix.Read(fd, drain[:])
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

func (p *kqueue) kick() { unix.Write(p.pipe[1], []byte{1}) }

func (p *kqueue) add(fd int, token uint64) error {
	if err := p.change(fd, unix.EVFILT_READ, unix.EV_ADD); err != nil {
		return err
	}
	p.tokens[fd] = token
	return nil
}

func (p *kqueue) write(fd int, _ uint64, on bool) error {
	if on {
		return p.change(fd, unix.EVFILT_WRITE, unix.EV_ADD)
	}
	return p.change(fd, unix.EVFILT_WRITE, unix.EV_DELETE)
}

func (p *kqueue) remove(fd int) {
	delete(p.tokens, fd)
	p.change(fd, unix.EVFILT_READ, unix.EV_DELETE)
	p.change(fd, unix.EVFILT_WRITE, unix.EV_DELETE)
}

func (p *kqueue) close() {
	unix.Close(p.pipe[0])
	unix.Close(p.pipe[1])
	unix.Close(p.fd)
}
