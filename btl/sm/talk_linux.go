package sm

import (
	"errors"
	"io"
	"net/netip"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// A talk is a socket during the handshake, before an endpoint has it. It queues nothing: its
// messages are short and fit into the buffer of a new socket.
type talk struct {
	m       *module
	pending *wireup.Pending
	fd      int
	pid     int // of the peer, 0 if this process can not see it
	watch   btl.Watch
	name    string    // of the peer's socket, if this side connects
	again   btl.Timer // until this side tries once more
	memory  int       // what the peer has handed over, if it has
	handed  bool
}

var _ wireup.Link = (*talk)(nil)

// A way is the name of a peer's socket.
type way struct{ local, name string }

// Addresses implements [wireup.Way].
func (w way) Addresses() (local, remote string) { return w.local, "@" + w.name }

// Describe implements [wireup.Way].
func (w way) Describe() string { return "@" + w.name + ", shared memory" }

// Dial implements [wireup.Transport].
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	fd, err := socket(unix.SOCK_STREAM)
	if err != nil {
		return nil, err
	}
	t := &talk{m: m, pending: p, fd: fd, name: to.(way).name}
	if err := t.connect(); err != nil {
		t.Abort()
		return nil, err
	}
	return t, nil
}

// fullPause is the time between two tries where the peer's system has no place for another connection.
const fullPause = 5 * time.Millisecond

// connect connects the socket, at once or later: where so many others connect to the peer that its system has no place left,
// there will be one when the peer has come to accept some. How long that may take the attempt bounds.
func (t *talk) connect() error {
	err := os.NewSyscallError("connect", unix.Connect(t.fd, &unix.SockaddrUnix{Name: "@" + t.name}))
	if errors.Is(err, syscall.EAGAIN) {
		t.again = t.m.loop.After(fullPause, func() {
			t.again = nil
			if err := t.connect(); err != nil {
				t.pending.Ended(err)
			}
		})
		return nil
	}
	if err == nil {
		err = t.sameUser()
	}
	if err == nil {
		t.watch, err = t.m.loop.Watch(t.fd, t)
	}
	if err != nil {
		return err
	}
	t.m.loop.Post(func() {
		if t.watch != nil {
			t.pending.Up()
		}
	})
	return nil
}

// readsPerPoll bounds the reads of a handshake in one poll: whoever says something on and on is no peer yet. It is more than a handshake takes.
const readsPerPoll = 16

// Poll implements [btl.Handler].
func (t *talk) Poll(bool) bool {
	did := false
	for reads := 0; t.watch != nil && reads < readsPerPoll; reads++ {
		n, err := t.read(t.m.scratch[:t.pending.Need()])
		switch {
		case errors.Is(err, syscall.EAGAIN):
			return did
		case errors.Is(err, syscall.EINTR):
		case err != nil:
			t.pending.Ended(err)
		case n == 0:
			t.pending.Ended(io.EOF)
		default:
			t.pending.Bytes(t.m.scratch[:n])
		}
		did = true
	}
	return did
}

// read takes what has come. Only the side that connects also takes the memory that comes with it:
// it knows whom it looked for. A descriptor that a stranger hands over is dropped by the system.
func (t *talk) read(b []byte) (int, error) {
	if t.name == "" {
		n, err := unix.Read(t.fd, b)
		return max(n, 0), err
	}
	rights := make([]byte, unix.CmsgSpace(4))
	n, size, flags, _, err := unix.Recvmsg(t.fd, b, rights, unix.MSG_CMSG_CLOEXEC|unix.MSG_DONTWAIT)
	if err != nil {
		return 0, err
	}
	if size == 0 && flags&unix.MSG_CTRUNC != 0 {
		// The system drops a descriptor for which this process has no place.
		return 0, os.NewSyscallError("recvmsg", syscall.EMFILE)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:size])
	if err != nil {
		return 0, err
	}
	for i := range messages {
		fds, err := unix.ParseUnixRights(&messages[i])
		if err != nil {
			return 0, err
		}
		for _, fd := range fds {
			t.dropMemory() // of more than one the last counts
			t.memory, t.handed = fd, true
		}
	}
	return n, nil
}

func (t *talk) dropMemory() {
	if t.handed {
		unix.Close(t.memory)
		t.handed = false
	}
}

// Send implements [wireup.Link]. That the peer is gone is no error here: what it has said before, or
// its end, is still to be read, and says more.
func (t *talk) Send(b []byte) error {
	err := unix.Sendto(t.fd, b, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT, nil)
	if isOneOf(err, unix.EPIPE, unix.ECONNRESET) {
		return nil
	}
	return os.NewSyscallError("send", err)
}

// hand sends bytes and a descriptor.
func (t *talk) hand(b []byte, fd int) error {
	n, err := unix.SendmsgN(t.fd, b, unix.UnixRights(fd), nil, unix.MSG_NOSIGNAL|unix.MSG_DONTWAIT)
	if err == nil && n < len(b) {
		err = syscall.EAGAIN
	}
	return os.NewSyscallError("sendmsg", err)
}

// Addresses implements [wireup.Link].
func (t *talk) Addresses() (local, remote string) {
	if t.name == "" {
		return "@" + t.m.name, "a process of this host"
	}
	return "@" + t.m.name, "@" + t.name
}

// Target implements [wireup.Link]: no address of IP.
func (t *talk) Target() netip.AddrPort { return netip.AddrPort{} }

// release ends the watch and gives the socket away.
func (t *talk) release() int {
	if t.again != nil {
		t.again.Stop()
		t.again = nil
	}
	if t.watch != nil {
		t.watch.Stop()
		t.watch = nil
	}
	return t.fd
}

// Abort implements [wireup.Link].
func (t *talk) Abort() {
	t.dropMemory()
	unix.Close(t.release())
}

// Leave implements [wireup.Link]. It closes the socket at once: a Unix socket keeps what was sent
// until the peer has read it.
func (t *talk) Leave(b []byte) {
	if len(b) > 0 {
		_ = t.Send(b) // the peer may be gone
	}
	t.Abort()
}
