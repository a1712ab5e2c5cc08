//go:build unix && !(linux && (386 || amd64 || arm || arm64 || riscv64))

package rawio

import "syscall"

// Packets are datagrams to one destination that go out together. All but the last have the same length.
type Packets struct {
	Way Way // always [OneByOne]

	to      *Destination
	segment int
	size    int
	pieces  [][]byte
	joined  []byte
}

// NewPackets returns one for a socket.
func NewPackets(int) *Packets { return &Packets{} }

// Reset begins anew, with packets of a length to a destination.
func (p *Packets) Reset(to *Destination, segment int) {
	clear(p.pieces)
	p.to, p.segment, p.size, p.pieces = to, segment, 0, p.pieces[:0]
}

// Add appends a piece, which is not empty, and lies within one packet.
func (p *Packets) Add(b []byte) {
	p.pieces = append(p.pieces, b)
	p.size += len(b)
}

// Room reports whether there is room for another packet, of so many pieces.
func (p *Packets) Room(pieces int) bool {
	return p.size+p.segment <= MaxSegmentsBytes && len(p.pieces)+pieces <= MaxPacketPieces && p.size < MaxSegments*p.segment
}

// Len is how many packets there are.
func (p *Packets) Len() int { return (p.size + p.segment - 1) / max(p.segment, 1) }

// Send sends the packets without waiting. It returns how many of them the system has taken, and, if
// these are not all, why.
func (p *Packets) Send(fd int) (sent int, errno syscall.Errno) {
	for i := 0; i < len(p.pieces); sent++ {
		p.joined = p.joined[:0]
		for ; i < len(p.pieces) && len(p.joined) < p.segment; i++ {
			p.joined = append(p.joined, p.pieces[i]...)
		}
		if errno := SendTo(fd, p.joined, p.to); errno != 0 {
			return sent, errno
		}
	}
	return sent, 0
}

// Arrived are datagrams that came in one call: here one.
type Arrived struct {
	buffer []byte
	n      int
	origin Origin
}

// JoinPackets does nothing: these systems join none.
func JoinPackets(int) {}

// NewArrived returns one whose buffer has a size.
func NewArrived(_, size int) *Arrived { return &Arrived{buffer: make([]byte, size)} }

// Receive receives a datagram if there is one, without waiting. What was received before is gone then.
func (a *Arrived) Receive(fd int) (n int, errno syscall.Errno) {
	if a.n, errno = RecvFrom(fd, a.buffer, &a.origin); errno != 0 {
		return 0, errno
	}
	return 1, 0
}

// Datagram returns it: its bytes, which are one packet, and its origin. Whether it is whole the system
// does not say.
func (a *Arrived) Datagram(int) (b []byte, segment int, from *Origin, whole bool) {
	return a.buffer[:a.n], a.n, &a.origin, true
}
