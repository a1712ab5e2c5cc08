package coll

import (
	"context"
	"encoding/binary"
)

// Calls by memory that is lent: each process shows where its bytes are, and the others read them there. So each byte is copied once. Nobody
// returns before all have read what it lends.

// loanSize is what a process shows of bytes that it lends: where they are, and how many.
const loanSize = 16

// LoanLength is how many bytes a process lends that shows this.
func LoanLength(b []byte) int {
	if len(b) != loanSize {
		return -1
	}
	return int(binary.NativeEndian.Uint64(b[8:]))
}

func putLoan(p []byte, s Commons, b []byte) {
	var address uint64
	if len(b) > 0 {
		address = s.Address(b)
	}
	binary.NativeEndian.PutUint64(p, address)
	binary.NativeEndian.PutUint64(p[8:], uint64(len(b)))
}

// A loan is bytes that a process lends.
type loan struct {
	s       Commons
	rank    int
	address uint64
	length  int
}

// loanIn finds the loan that a process shows in a place.
func loanIn(s Commons, rank int, p []byte) loan {
	return loan{s, rank, binary.NativeEndian.Uint64(p), int(binary.NativeEndian.Uint64(p[8:]))}
}

// read reads what is lent from an offset on. In all, so many bytes are due.
func (l loan) read(ctx context.Context, due, from int, to []byte) error {
	if l.length != due {
		return l.s.Misfit(l.rank, l.length, due)
	}
	if len(to) == 0 {
		return nil
	}
	return l.s.Read(ctx, l.rank, l.address+uint64(from), to)
}

// lend has a process lend the same bytes to all.
func lend(ctx context.Context, s Commons, b []byte) error {
	p, err := s.Place(ctx, loanSize)
	if err != nil {
		return err
	}
	putLoan(p, s, b)
	return s.Show(true)
}

// lent is what a process lends to all in this step. It waits for that.
func lent(ctx context.Context, s Commons, rank int) (loan, error) {
	b, err := s.Look(ctx, rank, ALoan)
	if err != nil {
		return loan{}, err
	}
	return loanIn(s, rank, b), nil
}

// borrow reads what a process lends to all: of so many bytes those from an offset on.
func borrow(ctx context.Context, s Commons, rank, due, from int, to []byte) error {
	l, err := lent(ctx, s, rank)
	if err != nil {
		return err
	}
	return l.read(ctx, due, from, to)
}

// borrowParts reads all of what all others lend, each to its part, and ends the step.
func borrowParts(ctx context.Context, c Comm, s Commons, part func(rank int) []byte) error {
	n, own := c.Size(), c.Rank()
	for i := 1; i < n; i++ {
		rank := (own + i) % n
		if err := borrow(ctx, s, rank, len(part(rank)), 0, part(rank)); err != nil {
			return err
		}
	}
	return s.End(true)
}

// bcastLent has all read what the root lends.
func bcastLent(ctx context.Context, c Comm, s Commons, buf []byte, root int) error {
	s.Begin(loanSize)
	if c.Rank() == root {
		if err := lend(ctx, s, buf); err != nil {
			return err
		}
	} else if err := borrow(ctx, s, root, len(buf), 0, buf); err != nil {
		return err
	}
	if err := s.End(false); err != nil {
		return err
	}
	return hearAll(ctx, c, s, root)
}

// hearAll has the root wait until all others have come.
func hearAll(ctx context.Context, c Comm, s Commons, root int) error {
	s.Begin(0)
	if c.Rank() == root {
		return lookAll(ctx, c, s, func(int) int { return 0 }, func(int, []byte) {})
	}
	if err := show(ctx, s, nil); err != nil {
		return err
	}
	return s.End(false)
}

// tellAll has all others wait for the root.
func tellAll(ctx context.Context, c Comm, s Commons, root int) error {
	s.Begin(0)
	if c.Rank() == root {
		if err := show(ctx, s, nil); err != nil {
			return err
		}
	} else if _, err := s.Look(ctx, root, 0); err != nil {
		return err
	}
	return s.End(false)
}

// gatherLent has the root read what all others lend.
func gatherLent(ctx context.Context, c Comm, s Commons, in, out []byte, root int) error {
	each := len(in)
	s.Begin(loanSize)
	if c.Rank() != root {
		if err := lend(ctx, s, in); err != nil {
			return err
		}
		if err := s.End(false); err != nil {
			return err
		}
		return tellAll(ctx, c, s, root)
	}
	fill(out[root*each:(root+1)*each], in)
	if err := borrowParts(ctx, c, s, func(rank int) []byte { return out[rank*each : (rank+1)*each] }); err != nil {
		return err
	}
	return tellAll(ctx, c, s, root)
}

// scatterLent has each process read its part of what the root lends.
func scatterLent(ctx context.Context, c Comm, s Commons, in, out []byte, root int) error {
	rank, each := c.Rank(), len(out)
	s.Begin(loanSize)
	if rank == root {
		fill(out, in[root*each:(root+1)*each])
		if err := lend(ctx, s, in); err != nil {
			return err
		}
	} else if err := borrow(ctx, s, root, each*c.Size(), rank*each, out); err != nil {
		return err
	}
	if err := s.End(false); err != nil {
		return err
	}
	return hearAll(ctx, c, s, root)
}

// allgatherLent has all read what all lend. Out has this process's values.
func allgatherLent(ctx context.Context, c Comm, s Commons, out []byte, each int) error {
	part := func(rank int) []byte { return out[rank*each : (rank+1)*each] }
	s.Begin(loanSize)
	if err := lend(ctx, s, part(c.Rank())); err != nil {
		return err
	}
	if err := borrowParts(ctx, c, s, part); err != nil {
		return err
	}
	return barrierShared(ctx, c, s)
}

// alltoallLent has each read its part of what all lend.
func alltoallLent(ctx context.Context, c Comm, s Commons, in, out []byte, each int) error {
	part := func(rank int) []byte { return out[rank*each : (rank+1)*each] }
	n, own := c.Size(), c.Rank()
	fill(part(own), in[own*each:(own+1)*each])
	s.Begin(loanSize)
	if err := lend(ctx, s, in); err != nil {
		return err
	}
	for i := 1; i < n; i++ {
		rank := (own + i) % n
		if err := borrow(ctx, s, rank, len(in), own*each, part(rank)); err != nil {
			return err
		}
	}
	if err := s.End(true); err != nil {
		return err
	}
	return barrierShared(ctx, c, s)
}

// foldPiece is how many bytes are read at a time that are combined with others: these stay in the cache.
const foldPiece = 32 << 10

// foldLent combines what all ranks lend, from an offset on, into acc. Each lends so many bytes; in is this process's own.
func foldLent(ctx context.Context, c Comm, s Commons, o order, in, acc []byte, offset int) error {
	most := max(foldPiece/o.op.Size, 1) * o.op.Size
	room := c.Scratch(o.rooms() * min(most, len(acc)))
	return inPieces(len(acc), most, func(from, to int) error {
		return o.fold(acc[from:to], room, func(rank int, room []byte) ([]byte, error) {
			if rank == c.Rank() {
				return in[offset+from : offset+to], nil
			}
			b := room[:to-from]
			return b, borrow(ctx, s, rank, len(in), offset+from, b)
		})
	})
}

// allreduceLent has each process combine a part of what all lend, which it then lends.
func allreduceLent(ctx context.Context, c Comm, s Commons, op Op, in, out []byte) error {
	parts := cutOf(out, op.Size, c.Size())
	part := func(rank int) []byte { return parts.part(rank, rank+1) }
	if err := foldPart(ctx, c, s, inCore(op, c.Size()), in, out, parts); err != nil {
		return err
	}
	s.Begin(loanSize)
	if err := lend(ctx, s, part(c.Rank())); err != nil {
		return err
	}
	if err := borrowParts(ctx, c, s, part); err != nil {
		return err
	}
	return barrierShared(ctx, c, s)
}

// foldPart combines this process's part of what all lend, in one step. Of in and out being the same memory, only that part is written.
func foldPart(ctx context.Context, c Comm, s Commons, o order, in, out []byte, parts cut) error {
	s.Begin(loanSize)
	if err := lend(ctx, s, in); err != nil {
		return err
	}
	own, offset := parts.part(c.Rank(), c.Rank()+1), min(c.Rank()*parts.each, len(in))
	acc := own
	if same(in, out) {
		acc = c.Scratch(len(own))
	}
	if err := foldLent(ctx, c, s, o, in, acc, offset); err != nil {
		return err
	}
	fill(own, acc)
	for rank := range c.Size() { // who has no part has seen nobody yet
		if rank != c.Rank() {
			if _, err := lent(ctx, s, rank); err != nil {
				return err
			}
		}
	}
	return s.End(true)
}

// reduceLent has each process combine a part of what all lend. The root reads the parts.
func reduceLent(ctx context.Context, c Comm, s Commons, op Op, in, out []byte, root int) error {
	acc := out
	if c.Rank() != root {
		acc = c.Scratch(len(in))
	}
	parts := cutOf(acc, op.Size, c.Size())
	part := func(rank int) []byte { return parts.part(rank, rank+1) }
	if err := foldPart(ctx, c, s, inTree(op, c.Size()), in, acc, parts); err != nil {
		return err
	}
	s.Begin(loanSize)
	if c.Rank() != root {
		if err := lend(ctx, s, part(c.Rank())); err != nil {
			return err
		}
		if err := s.End(false); err != nil {
			return err
		}
		return tellAll(ctx, c, s, root)
	}
	if err := borrowParts(ctx, c, s, part); err != nil {
		return err
	}
	return tellAll(ctx, c, s, root)
}

// reduceScatterLent has each process combine its own part of what all lend. Out may be a part of in.
func reduceScatterLent(ctx context.Context, c Comm, s Commons, op Op, in, out []byte, from int) error {
	s.Begin(loanSize)
	if err := lend(ctx, s, in); err != nil {
		return err
	}
	acc := c.Scratch(len(out))
	if err := foldLent(ctx, c, s, inTree(op, c.Size()), in, acc, from); err != nil {
		return err
	}
	if err := s.End(false); err != nil {
		return err
	}
	if err := barrierShared(ctx, c, s); err != nil {
		return err
	}
	copy(out, acc)
	return nil
}
