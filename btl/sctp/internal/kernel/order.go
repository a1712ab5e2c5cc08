//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"fmt"
	"syscall"

	"github.com/strandmp/strand/internal/sctpsock"
)

// order puts the messages of each stream in order, which the kernel fails to do
// at times (package sctpsock, "Kernel facts"). What comes too early is copied and
// kept; mostly nothing is.
type order []sequence

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

// ahead is how many messages at most may overtake one.
const ahead = 4096

// arrived hands over a piece of a message, or keeps it until it is its turn.
func (a *association) arrived(info sctpsock.RecvInfo, piece []byte) {
	if a.order == nil {
		a.handler.Receive(info.Stream, info.PPID, piece, info.End)
		return
	}
	if int(info.Stream) >= len(a.order) {
		a.disordered(info)
		return
	}
	s := &a.order[info.Stream]
	switch distance := info.SSN - s.next; {
	case distance == 0:
		a.inTurn(s, info, piece)
		for a.takeTurn(s) {
		}
	case distance < ahead:
		s.early = append(s.early, early{info, append([]byte(nil), piece...)})
	default:
		a.disordered(info)
	}
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
			s.early = append(s.early[:i], s.early[i+1:]...)
			a.inTurn(s, e.info, e.data)
			return true
		}
	}
	return false
}

func (a *association) disordered(info sctpsock.RecvInfo) {
	a.k.abort(a)
	a.down(fmt.Errorf("stream %d goes on with message %d, which is not its turn: %w", info.Stream, info.SSN, syscall.EPROTO))
}
