//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"fmt"
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/sctpsock"
)

// order puts the messages of each stream in order. At times the kernel does not
// (package sctpsock, "Kernel facts"). What comes too early is copied and kept;
// mostly nothing does.
type order struct {
	streams []sequence
	kept    int // bytes that are early, with earlyCost for each piece
	most    int // that may be kept
}

// A sequence is one stream's.
type sequence struct {
	next  uint16
	early []early
}

// early is a piece of a message that has overtaken others.
type early struct {
	info sctpsock.RecvInfo
	data []byte
}

const (
	// ahead is how many messages at most may overtake one.
	ahead = 4096
	// earlyCost is what keeping a piece takes beside its bytes.
	earlyCost = 64
	// strangersEarly is how much is kept for a peer that has not proved itself. Its
	// messages are those of the handshake, on one stream.
	strangersEarly = 64 << 10
)

// arrived hands over a piece of a message, or keeps it until it is its turn.
func (a *association) arrived(info sctpsock.RecvInfo, piece []byte) {
	a.midway = !info.End
	if a.order.streams == nil {
		a.handler.Receive(info.Stream, info.PPID, piece, info.End)
		return
	}
	if int(info.Stream) >= len(a.order.streams) {
		a.disordered(info)
		return
	}
	s := &a.order.streams[info.Stream]
	switch distance := info.SSN - s.next; {
	case distance == 0:
		a.inTurn(s, info, piece)
		for a.takeTurn(s) {
		}
	case distance < ahead && a.order.keep(len(piece)):
		s.early = append(s.early, early{info, append([]byte(nil), piece...)})
	default:
		a.disordered(info)
	}
}

// keep accounts for a piece that is early, and reports false if there is too much
// already. Messages overtake each other in the socket's receive buffer only. So if more
// is early than that buffer holds, the kernel's disorder is not the reason.
func (o *order) keep(size int) bool {
	if o.kept+size+earlyCost > o.most {
		return false
	}
	o.kept += size + earlyCost
	return true
}

func (a *association) inTurn(s *sequence, info sctpsock.RecvInfo, piece []byte) {
	if info.End {
		s.next++
	}
	a.handler.Receive(info.Stream, info.PPID, piece, info.End)
}

// takeTurn hands over a piece that was early, if it is its turn.
func (a *association) takeTurn(s *sequence) bool {
	for i, e := range s.early {
		if e.info.SSN == s.next && !a.over {
			s.early = slices.Delete(s.early, i, i+1)
			a.order.kept -= len(e.data) + earlyCost
			a.inTurn(s, e.info, e.data)
			return true
		}
	}
	return false
}

func (a *association) disordered(info sctpsock.RecvInfo) {
	a.k.abort(a)
	a.down(fmt.Errorf("stream %d goes on with message %d, which is not its turn, and %d bytes wait for theirs: %w",
		info.Stream, info.SSN, a.order.kept, syscall.EPROTO))
}
