package coll

import (
	"context"
	"encoding/binary"
	"errors"
)

// In a call in which each process knows its own lengths alone, nobody knows whether what the others have is long. So each
// decides for itself whether it shows its pieces or lends them, and says which. Its place has
//
//	whether it lends them
//	of each process's piece: where it is, and how long
//	the pieces, one after the other, if they are shown
//
// Where a piece is that is shown, is said from the beginning of the place on.

const (
	piecesShown = iota
	piecesLent
)

var errPieces = errors.New("malformed memory: a piece lies beyond what its process shows")

// piecesAt is where what is said of a process's piece begins.
func piecesAt(rank int) int { return 8 + rank*loanSize }

// alltoallvShared gives each process its piece.
func alltoallvShared(ctx context.Context, c Comm, s Commons, in, out [][]byte) error {
	n, own := c.Size(), c.Rank()
	fill(out[own], in[own])
	s.Begin(s.Room())
	total := 0
	for rank, b := range in {
		if rank != own {
			total += len(b)
		}
	}
	if lends := piecesAt(n)+total > min(pieceShown, s.Room()); lends {
		k := keep(c, in, out)
		if err := lendPieces(ctx, s, k.piece, n); err != nil {
			return err
		}
	} else if err := showPieces(ctx, s, in, own, total); err != nil {
		return err
	}
	return takePieces(ctx, c, s, out)
}

// lendPieces says where this process's pieces are.
func lendPieces(ctx context.Context, s Commons, piece func(rank int) []byte, n int) error {
	p, err := s.Place(ctx, piecesAt(n))
	if err != nil {
		return err
	}
	binary.NativeEndian.PutUint64(p, piecesLent)
	for rank := range n {
		putLoan(p[piecesAt(rank):], s, piece(rank))
	}
	return s.Show(false)
}

// showPieces shows this process's pieces for the others.
func showPieces(ctx context.Context, s Commons, in [][]byte, own, total int) error {
	p, err := s.Place(ctx, piecesAt(len(in))+total)
	if err != nil {
		return err
	}
	binary.NativeEndian.PutUint64(p, piecesShown)
	at := piecesAt(len(in))
	for rank, b := range in {
		if rank == own {
			b = nil
		}
		binary.NativeEndian.PutUint64(p[piecesAt(rank):], uint64(at))
		binary.NativeEndian.PutUint64(p[piecesAt(rank)+8:], uint64(len(b)))
		at += s.Copy(p[at:], b)
	}
	return s.Show(false)
}

// takePieces takes the pieces for this process from all others. If any of them is lent, it waits until all have theirs.
func takePieces(ctx context.Context, c Comm, s Commons, out [][]byte) error {
	n, own := c.Size(), c.Rank()
	anyLent := false
	for i := range n {
		rank := (own + i) % n
		p, err := s.Look(ctx, rank, AnyLength)
		if err != nil {
			return err
		}
		if len(p) < piecesAt(n) {
			return errPieces
		}
		lent := binary.NativeEndian.Uint64(p) == piecesLent
		anyLent = anyLent || lent
		if rank == own {
			continue
		}
		if err := takePiece(ctx, s, loanIn(s, rank, p[piecesAt(own):]), p, lent, out[rank]); err != nil {
			return err
		}
	}
	if err := s.End(true); err != nil || !anyLent {
		return err
	}
	return barrierShared(ctx, c, s)
}

func takePiece(ctx context.Context, s Commons, l loan, p []byte, lent bool, out []byte) error {
	if lent || l.length != len(out) {
		return l.read(ctx, len(out), 0, out)
	}
	if l.address > uint64(len(p)) || l.length > len(p)-int(l.address) {
		return errPieces
	}
	s.Copy(out, p[l.address:])
	return nil
}
