//go:build linux && (386 || amd64 || arm || arm64 || riscv64)

package rawio

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Packets are datagrams to one destination that go out together. All but the last have the same length.
// It must live on the heap, and keeps its pieces alive until [Packets.Reset].
type Packets struct {
	Way Way

	best    Way // that the kernel has
	slowly  int // batches that went in another one, since the best was tried
	to      *Destination
	segment int // the length of each
	size    int // of all
	pieces  int
	iov     [MaxPacketPieces]unix.Iovec
	joined  [MaxPacketPieces]unix.Iovec // those that lie behind each other are one
	control segmentControl
	msg     unix.Msghdr
	many    [MaxSegments]manyHeader
}

// manyHeader is the system's struct mmsghdr.
type manyHeader struct {
	msg unix.Msghdr
	n   uint32
}

// segmentControl is a control message with a UDP_SEGMENT, which is a uint16.
type segmentControl struct {
	header unix.Cmsghdr
	size   uint16
	_      [6]byte
}

// NewPackets returns one for a socket, to be sent in the best way that the kernel has.
func NewPackets(fd int) *Packets {
	p := &Packets{Way: ManyCalls}
	if _, err := unix.GetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_SEGMENT); err == nil {
		p.Way = Segmented
	}
	p.best = p.Way
	return p
}

// tryAgain is after how many batches a way is tried that was refused. What refused it may have passed: a firewall that dropped some packets, or a
// route over a device that could not cut them. If it has not, a few calls more in so many are no matter.
const tryAgain = 1 << 12

// retry has the best way be tried now and then where another one is taken.
func (p *Packets) retry() {
	if p.Way == p.best {
		return
	}
	if p.slowly++; p.slowly >= tryAgain {
		p.Way, p.slowly = p.best, 0
	}
}

// Reset begins anew, with packets of a length to a destination.
func (p *Packets) Reset(to *Destination, segment int) {
	for i := range p.iov[:p.pieces] {
		p.iov[i].Base = nil
	}
	p.to, p.segment, p.size, p.pieces = to, segment, 0, 0
}

// Add appends a piece, which is not empty, and lies within one packet.
func (p *Packets) Add(b []byte) {
	p.iov[p.pieces].Base = unsafe.SliceData(b)
	p.iov[p.pieces].SetLen(len(b))
	p.pieces++
	p.size += len(b)
}

// Room reports whether there is room for another packet, of so many pieces.
func (p *Packets) Room(pieces int) bool {
	return p.size+p.segment <= MaxSegmentsBytes && p.pieces+pieces <= MaxPacketPieces && p.size < MaxSegments*p.segment
}

// Len is how many packets there are.
func (p *Packets) Len() int { return (p.size + p.segment - 1) / max(p.segment, 1) }

// Send sends the packets without waiting. It returns how many of them the system has taken, and, if
// these are not all, why. Where the system refuses a way twice the next one is taken at once, for a while ([tryAgain]): a device
// that can not cut packets, a filter of system calls. Once it may be the network's answer to an
// earlier packet, of any peer. What is refused in each way is no way's fault: a firewall.
func (p *Packets) Send(fd int) (sent int, errno syscall.Errno) {
	if p.size > p.segment {
		p.retry()
	}
	way := p.Way
	for refused := false; ; refused = !refused {
		switch {
		case p.size <= p.segment:
			return p.one(fd, 0, p.pieces)
		case p.Way == Segmented:
			sent, errno = p.segmented(fd)
		case p.Way == ManyCalls:
			sent, errno = p.manyCalls(fd)
		default:
			if sent, errno = p.oneByOne(fd); sent == 0 && errno != 0 {
				p.Way = way
			}
			return sent, errno
		}
		switch errno {
		case unix.EIO, unix.EINVAL, unix.ENOSYS, unix.EPERM, unix.EOPNOTSUPP, unix.ENOPROTOOPT:
			if sent == 0 {
				if refused {
					p.Way--
				}
				continue
			}
		}
		return sent, errno
	}
}

func sendmsg(fd int, msg *unix.Msghdr) syscall.Errno {
	for {
		_, _, errno := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if errno != syscall.EINTR {
			return errno
		}
	}
}

func (p *Packets) header(msg *unix.Msghdr, from, to int) {
	msg.Name, msg.Namelen = (*byte)(unsafe.Pointer(&p.to.raw)), p.to.size
	msg.Iov = &p.iov[from]
	msg.SetIovlen(to - from)
}

func (p *Packets) segmented(fd int) (int, syscall.Errno) {
	p.header(&p.msg, 0, p.pieces)
	joined := p.join()
	p.msg.Iov = &joined[0]
	p.msg.SetIovlen(len(joined))
	defer clear(joined)
	p.control.header.Level, p.control.header.Type = unix.IPPROTO_UDP, unix.UDP_SEGMENT
	p.control.header.SetLen(unix.CmsgLen(2))
	p.control.size = uint16(p.segment)
	p.msg.Control = (*byte)(unsafe.Pointer(&p.control))
	p.msg.SetControllen(unix.CmsgSpace(2))
	if errno := sendmsg(fd, &p.msg); errno != 0 {
		return 0, errno
	}
	return p.Len(), 0
}

// join returns the pieces, of which those are one that lie behind each other in memory. The system reads, checks and
// copies each by itself.
func (p *Packets) join() []unix.Iovec {
	n := 0
	for i := range p.iov[:p.pieces] {
		piece := &p.iov[i]
		if n > 0 {
			last := &p.joined[n-1]
			if endOf(last) == uintptr(unsafe.Pointer(piece.Base)) {
				last.SetLen(int(last.Len) + int(piece.Len))
				continue
			}
		}
		p.joined[n] = *piece
		n++
	}
	return p.joined[:n]
}

// endOf is the address behind a piece. It is no pointer, since nothing may be there: Go's runtime ends a process in which it finds a pointer to memory
// that is not in use.
func endOf(piece *unix.Iovec) uintptr {
	return uintptr(unsafe.Pointer(piece.Base)) + uintptr(piece.Len)
}

// next returns the end of the packet that begins with a piece.
func (p *Packets) next(from int) (to int) {
	for size := 0; to+from < p.pieces && size < p.segment; to++ {
		size += int(p.iov[from+to].Len)
	}
	return from + to
}

func (p *Packets) one(fd, from, to int) (int, syscall.Errno) {
	if to == from+1 { // no header for the system to read and check
		if errno := SendTo(fd, unsafe.Slice(p.iov[from].Base, p.iov[from].Len), p.to); errno != 0 {
			return 0, errno
		}
		return 1, 0
	}
	p.header(&p.msg, from, to)
	p.msg.Control = nil
	p.msg.SetControllen(0)
	if errno := sendmsg(fd, &p.msg); errno != 0 {
		return 0, errno
	}
	return 1, 0
}

func (p *Packets) oneByOne(fd int) (sent int, errno syscall.Errno) {
	for from := 0; from < p.pieces; sent++ {
		to := p.next(from)
		if _, errno := p.one(fd, from, to); errno != 0 {
			return sent, errno
		}
		from = to
	}
	return sent, 0
}

func (p *Packets) manyCalls(fd int) (int, syscall.Errno) {
	n := 0
	for from := 0; from < p.pieces; n++ {
		to := p.next(from)
		p.header(&p.many[n].msg, from, to)
		from = to
	}
	for {
		sent, _, errno := syscall.RawSyscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(&p.many)), uintptr(n),
			unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		switch {
		case errno == syscall.EINTR:
			continue
		case errno != 0:
			return 0, errno
		case int(sent) < n:
			return int(sent), unix.EAGAIN // the next call says why; asking now would cost one
		}
		return n, 0
	}
}

// Arrived are datagrams that came in one call. It must live on the heap.
type Arrived struct {
	buffers [][]byte
	origins []Origin
	iov     []unix.Iovec
	control []segmentControl
	many    []manyHeader
	ask     int  // for how many: more where as many have come
	single  bool // recvmmsg is refused
}

// JoinPackets has the kernel join packets of one origin, as they come, where it can (UDP_GRO).
// Datagram then says of how many bytes each is. Buffers have to take 64 KB.
func JoinPackets(fd int) { _ = unix.SetsockoptInt(fd, unix.IPPROTO_UDP, unix.UDP_GRO, 1) }

// NewArrived returns one for so many buffers of a size.
func NewArrived(buffers, size int) *Arrived {
	a := &Arrived{
		buffers: make([][]byte, buffers), origins: make([]Origin, buffers), iov: make([]unix.Iovec, buffers),
		control: make([]segmentControl, buffers), many: make([]manyHeader, buffers),
	}
	memory := make([]byte, buffers*size)
	for i := range a.many {
		a.buffers[i] = memory[i*size : (i+1)*size : (i+1)*size]
		a.iov[i].Base = &a.buffers[i][0]
		a.iov[i].SetLen(size)
		msg := &a.many[i].msg
		msg.Name = (*byte)(unsafe.Pointer(&a.origins[i].raw))
		msg.Iov = &a.iov[i]
		msg.SetIovlen(1)
		msg.Control = (*byte)(unsafe.Pointer(&a.control[i]))
	}
	return a
}

// Receive receives what there is, without waiting. What was received before is gone then. It asks for one
// datagram first, and for more as long as all come that it asks for: to find that there is no other takes as long as
// to receive one.
func (a *Arrived) Receive(fd int) (n int, errno syscall.Errno) {
	if a.single || a.ask == 0 {
		a.ask = 1
	}
	for i := range a.many[:a.ask] {
		a.many[i].msg.Namelen = unix.SizeofSockaddrInet6
		a.many[i].msg.SetControllen(int(unsafe.Sizeof(segmentControl{})))
		a.control[i].header.Type = 0
	}
	for {
		n, errno = a.receive(fd)
		switch {
		case errno == 0 && n == a.ask:
			a.ask = min(2*a.ask, len(a.many))
			return n, 0
		case errno == syscall.EINTR:
			continue
		case (errno == unix.ENOSYS || errno == unix.EPERM) && a.ask > 1:
			a.single, a.ask = true, 1
			continue
		}
		a.ask = 1
		return n, errno
	}
}

// receive makes the call.
func (a *Arrived) receive(fd int) (int, syscall.Errno) {
	if a.ask > 1 {
		got, _, errno := syscall.RawSyscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(a.many))), uintptr(a.ask),
			unix.MSG_DONTWAIT, 0, 0)
		if errno != 0 {
			return 0, errno
		}
		return int(got), 0
	}
	size, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&a.many[0].msg)), unix.MSG_DONTWAIT)
	if errno != 0 {
		return 0, errno
	}
	a.many[0].n = uint32(size)
	return 1, 0
}

// Datagram returns the i-th of them: its bytes, which are packets of so many bytes each, but for the
// last, and its origin. Whole reports whether it is: more than a buffer takes is cut off.
func (a *Arrived) Datagram(i int) (b []byte, segment int, from *Origin, whole bool) {
	b = a.buffers[i][:min(int(a.many[i].n), len(a.buffers[i]))]
	segment = len(b)
	c := &a.control[i]
	if a.many[i].msg.Controllen > 0 && c.header.Level == unix.IPPROTO_UDP && c.header.Type == unix.UDP_GRO {
		if n := int(binary.NativeEndian.Uint32((*[4]byte)(unsafe.Pointer(&c.size))[:])); n > 0 {
			segment = n
		}
	}
	return b, segment, &a.origins[i], a.many[i].msg.Flags&unix.MSG_TRUNC == 0
}
