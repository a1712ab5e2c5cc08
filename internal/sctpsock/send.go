//go:build linux && (amd64 || arm || arm64 || riscv64)

package sctpsock

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	solSCTP = unix.IPPROTO_SCTP

	// Types of control messages, linux/sctp.h.
	controlSndInfo = 2
	controlRcvInfo = 3

	// Flags of struct sctp_sndinfo.
	flagAbort  = 1 << 2
	flagAckNow = 1 << 3
	flagEOF    = 0x200 // MSG_FIN; github.com/ishidawataru/sctp has another number
)

// MaxPieces is how many pieces a message may be gathered from.
const MaxPieces = 64

// gather is a message to be sent. It lives on the heap, where the kernel may be
// pointed to.
type gather struct {
	n       int
	iov     [MaxPieces]unix.Iovec
	msg     unix.Msghdr
	control struct {
		header unix.Cmsghdr
		info   sndInfo
	}
}

// sndInfo is struct sctp_sndinfo.
type sndInfo struct {
	stream, flags uint16
	ppid          uint32 // as it goes over the wire
	context       uint32
	assoc         int32
}

func (g *gather) reset() {
	for i := range g.iov[:g.n] {
		g.iov[i].Base = nil
	}
	g.n = 0
}

// Add appends a piece to the message that the next [Socket.Send] sends, and
// reports whether there was room for it. Empty pieces need none.
func (s *Socket) Add(piece []byte) bool {
	if len(piece) == 0 {
		return true
	}
	g := &s.out
	if g.n == len(g.iov) {
		return false
	}
	g.iov[g.n].Base = unsafe.SliceData(piece)
	g.iov[g.n].SetLen(len(piece))
	g.n++
	return true
}

// Drop forgets the pieces added.
func (s *Socket) Drop() { s.out.reset() }

// Send sends the message made of the pieces added, all of it or nothing, and
// forgets them. At least one byte must have been added. EAGAIN means that the
// socket's send buffer is full. EMSGSIZE means that the message is longer than that
// buffer. EPIPE or EINVAL means that there is no such association (any more), or no
// such stream.
func (s *Socket) Send(to SendInfo) syscall.Errno {
	flags := uint16(0)
	if to.AckNow {
		flags = flagAckNow
	}
	errno := s.send(to, flags)
	s.out.reset()
	return errno
}

func (s *Socket) send(to SendInfo, flags uint16) syscall.Errno {
	g := &s.out
	g.control.header.Level, g.control.header.Type = solSCTP, controlSndInfo
	g.control.header.SetLen(unix.CmsgLen(int(unsafe.Sizeof(g.control.info))))
	g.control.info = sndInfo{stream: to.Stream, flags: flags, ppid: wireOrder(to.PPID), assoc: int32(to.Assoc)}
	g.msg.Iov = &g.iov[0]
	g.msg.SetIovlen(g.n)
	g.msg.Control = (*byte)(unsafe.Pointer(&g.control))
	g.msg.SetControllen(int(unsafe.Sizeof(g.control)))
	for {
		// It can not block, so the scheduler need not know of it.
		_, _, errno := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(s.fd),
			uintptr(unsafe.Pointer(&g.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// wireOrder turns a number into one whose bytes in memory are big-endian, and
// back.
func wireOrder(v uint32) uint32 {
	var b [4]byte
	binary.BigEndian.PutUint32(b[:], v)
	return binary.NativeEndian.Uint32(b[:])
}
