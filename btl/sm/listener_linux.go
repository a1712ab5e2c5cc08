package sm

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/openfiles"
)

// A listener accepts those who connect to our name.
type listener struct {
	m     *module
	fd    int
	watch btl.Watch
	pause btl.Timer
}

const (
	// acceptsPerPoll keeps a flood of connections from holding up everything.
	acceptsPerPoll = 16
	// troubleRest is how long the listener waits when the system gives it nothing.
	troubleRest = 100 * time.Millisecond
)

// Poll implements [btl.Handler].
func (l *listener) Poll(bool) bool {
	did := false
	for range acceptsPerPoll {
		if l.watch == nil || !l.m.wire.Room(netip.AddrPort{}) {
			return did
		}
		fd, _, err := unix.Accept4(l.fd, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		switch {
		case err == nil:
			did = true
			l.m.welcome(fd)
		case errors.Is(err, syscall.EAGAIN):
			return did
		case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EINTR):
		default:
			// Out of descriptors or memory: trying again at once would spin.
			l.m.wire.Stray(btl.LogWarn, "", openfiles.Explain(os.NewSyscallError("accept", err)))
			l.rest()
			return did
		}
	}
	return did
}

// rest stops accepting for a while.
func (l *listener) rest() {
	l.stop()
	l.pause = l.m.loop.After(troubleRest, func() {
		l.pause = nil
		var err error
		if l.watch, err = l.m.loop.Watch(l.fd, l); err != nil {
			l.watch = nil
			l.m.wire.Stray(btl.LogWarn, "", err)
			l.rest()
		}
	})
}

func (l *listener) stop() {
	if l.watch != nil {
		l.watch.Stop()
		l.watch = nil
	}
}

func (l *listener) close() {
	if l.pause != nil {
		l.pause.Stop()
	}
	l.stop()
	unix.Close(l.fd)
}

// welcome takes in a connection that somebody of the same user has made.
func (m *module) welcome(fd int) {
	t := &talk{m: m, fd: fd}
	err := t.sameUser()
	if err == nil {
		t.watch, err = m.loop.Watch(fd, t)
	}
	if err != nil {
		m.wire.Stray(btl.LogWarn, "", err)
		t.Abort()
		return
	}
	t.pending = m.wire.Came(t, netip.AddrPort{})
}

// sameUser asks the kernel who has the other end of a connection. Of one that listens it tells whose it was as it began to. Ranks of
// the superuser may have become another user's since, all of them, and meet only then.
func (t *talk) sameUser() error {
	peer, err := unix.GetsockoptUcred(t.fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return os.NewSyscallError("getsockopt SO_PEERCRED", err)
	}
	if uid := int(peer.Uid); uid != os.Geteuid() && uid != t.m.uid {
		return &userError{int(peer.Uid), int(peer.Pid)}
	}
	t.pid = int(peer.Pid)
	return nil
}

// A userError is that of a process of another user, with whom no memory is shared.
type userError struct{ uid, pid int }

func (e *userError) Error() string {
	return fmt.Sprintf("process %d belongs to user %d, this one to %d: memory is shared within one user only", e.pid, e.uid, os.Geteuid())
}

func isOneOf(err error, all ...error) bool {
	return slices.ContainsFunc(all, func(e error) bool { return errors.Is(err, e) })
}
