//go:build linux

package wire

import (
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// batch is how many frames go by one system call.
const batch = 64

// mmsghdr is struct mmsghdr of sendmmsg(2).
type mmsghdr struct {
	header unix.Msghdr
	sent   uint32
}

// A port is the switch's side of a host's cable.
type port struct {
	*ring
	messages [batch]mmsghdr
	vectors  [batch]unix.Iovec
	frames   [batch]emulate.Delivery
	waiting  int
	ready    int           // frames in the ring that this turn takes
	last     time.Duration // when the last frame came in
}

func newPort(r *ring) *port {
	p := &port{ring: r}
	for i := range p.messages {
		p.messages[i].header.Iov = &p.vectors[i]
		p.messages[i].header.SetIovlen(1)
	}
	return p
}

// add puts a frame into the batch, which must have room.
func (p *port) add(d emulate.Delivery, bytes []byte) {
	v := &p.vectors[p.waiting]
	v.Base = &bytes[0]
	v.SetLen(len(bytes))
	p.frames[p.waiting] = d
	p.waiting++
}

// patience is how often the kernel may say that its queues are full before frames are given up.
// Each try gives way to other goroutines, so that the kernel may get the processor and drain
// them.
const patience = 100

// flush sends the batch and returns how many frames the kernel did not take because its own
// queues were full. Those queues are no part of the emulated network.
func (p *port) flush() (refused int) {
	sent, tries := 0, 0
	for sent < p.waiting {
		n, _, errno := unix.RawSyscall6(unix.SYS_SENDMMSG, uintptr(p.fd),
			uintptr(unsafe.Pointer(&p.messages[sent])), uintptr(p.waiting-sent), unix.MSG_DONTWAIT, 0, 0)
		switch {
		case errno == 0:
			sent += int(n)
		case errno == unix.EINTR:
		case (errno == unix.EAGAIN || errno == unix.ENOBUFS) && tries < patience:
			tries++
			runtime.Gosched()
		default:
			refused++
			sent++
		}
	}
	p.waiting = 0
	return refused
}
