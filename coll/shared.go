package coll

import "context"

// Commons is memory that all processes of a communicator share. Calls by it take steps, in which each process shows bytes to
// all, or looks at what others show, or both. All processes make the same steps.
type Commons interface {
	// Room is how many bytes a process can show in a step.
	Room() int
	// Crowded reports whether there are more processes than processors.
	Crowded() bool
	// Begin begins a step in which no process shows more than n bytes. All give the same n.
	Begin(n int)
	// Place returns memory in which to write the n bytes that are shown next. It waits until nobody looks at it any more.
	Place(ctx context.Context, n int) ([]byte, error)
	// Copy copies into a place, or out of what another process shows, as the built-in copy does, in the way that is best for memory that others have read or written.
	Copy(to, from []byte) int
	// Show shows what is in the place. Lends says that this tells of what the process lends.
	Show(lends bool) error
	// Look returns the n bytes that a process shows in this step, or as many as it shows if n is AnyLength; or its loan, if n is ALoan. It waits
	// for them. They are there until End.
	Look(ctx context.Context, rank, n int) ([]byte, error)
	// End ends the step. All says that this process has looked at what each of the others has shown.
	End(all bool) error

	// Lends reports whether processes can read each other's own memory too.
	Lends() bool
	// Address is where others find bytes of this process. The caller keeps them as they are until the others are done with them.
	Address(b []byte) uint64
	// Read reads bytes of another process's own memory.
	Read(ctx context.Context, rank int, address uint64, to []byte) error
	// Misfit is the error for a process that gives so many bytes where others are due.
	Misfit(rank, got, due int) error
}

// In place of a number of bytes.
const (
	AnyLength = -1 // it is not known
	ALoan     = -2 // where and how many the bytes are that the process lends
)

// A Sharing communicator may have memory that its processes share.
type Sharing interface {
	Comm
	// Commons returns it, or nil.
	Commons() Commons
}

// A way is how a call is made by memory that all have in common.
type way int

const (
	byMessages way = iota // it is not
	byShowing             // processes show their bytes
	byLending             // processes show where their bytes are
)

// memoryFor returns the memory by which a call of so many bytes is made, and how. Name is the algorithm that the user has given, or
// empty.
func memoryFor(c Comm, name string, length int, l limits) (Commons, way) {
	m := commonsOf(c)
	if m == nil || name != "" && name != "shared" && name != "lent" {
		return nil, byMessages
	}
	b := l.ample
	if m.Crowded() {
		b = l.crowded
	}
	switch lends := m.Lends() && length > 0; {
	case name == "lent" && lends, name == "" && lends && b.lends && length > b.shown:
		return m, byLending
	case name == "shared", name == "" && length <= b.shown, name == "lent" && length == 0:
		return m, byShowing
	}
	return nil, byMessages
}

// memoryFolding is memoryFor for calls that combine elements: one has to fit.
func memoryFolding(op Op, c Comm, name string, length int, l limits) (Commons, way) {
	m, w := memoryFor(c, name, length, l)
	if w == byShowing && op.Size > m.Room() {
		return nil, byMessages
	}
	return m, w
}

// commonsOf returns the memory that all have in common, or nil.
func commonsOf(c Comm) Commons {
	if s, ok := c.(Sharing); ok {
		return s.Commons()
	}
	return nil
}

// show shows a process's bytes.
func show(ctx context.Context, s Commons, b []byte) error {
	p, err := s.Place(ctx, len(b))
	if err != nil {
		return err
	}
	s.Copy(p, b)
	return s.Show(false)
}

// lookAll looks at what all others show in this step, the next rank's first, and ends the step.
func lookAll(ctx context.Context, c Comm, s Commons, length func(rank int) int, take func(rank int, b []byte)) error {
	n, own := c.Size(), c.Rank()
	for i := 1; i < n; i++ {
		rank := (own + i) % n
		b, err := s.Look(ctx, rank, length(rank))
		if err != nil {
			return err
		}
		take(rank, b)
	}
	return s.End(true)
}

// barrierShared is over when all have shown nothing.
func barrierShared(ctx context.Context, c Comm, s Commons) error {
	s.Begin(0)
	if err := show(ctx, s, nil); err != nil {
		return err
	}
	return lookAll(ctx, c, s, func(int) int { return 0 }, func(int, []byte) {})
}

// inPieces calls f for pieces of so many bytes at most, at least once.
func inPieces(length, most int, f func(from, to int) error) error {
	for from := 0; ; from += most {
		to := min(from+most, length)
		if err := f(from, to); err != nil || to == length {
			return err
		}
	}
}

// pieceShown is how much is shown at a time where others look at a piece while the next one is shown. What is more in all than that is lent where each gets
// a piece of its own.
const pieceShown = 64 << 10

// bcastShared has the root show all, in pieces. The root may be some pieces ahead.
func bcastShared(ctx context.Context, c Comm, s Commons, buf []byte, root int) error {
	return inPieces(len(buf), min(pieceShown, s.Room()), func(from, to int) error {
		s.Begin(to - from)
		if c.Rank() == root {
			if err := show(ctx, s, buf[from:to]); err != nil {
				return err
			}
			return s.End(false)
		}
		b, err := s.Look(ctx, root, to-from)
		if err != nil {
			return err
		}
		s.Copy(buf[from:to], b)
		return s.End(false)
	})
}

// reduceShared has the root combine what all others show, in the order of their ranks.
func reduceShared(ctx context.Context, c Comm, s Commons, op Op, in, out []byte, root int) error {
	return inPieces(len(in), s.Room()/op.Size*op.Size, func(from, to int) error {
		s.Begin(to - from)
		if err := show(ctx, s, in[from:to]); err != nil {
			return err
		}
		if c.Rank() == root {
			if err := foldShown(ctx, c, s, inTree(op, c.Size()), out[from:to], 0, to-from); err != nil {
				return err
			}
		}
		return s.End(false)
	})
}

// foldShown combines what ranks 0 to n−1 show, from an offset on, into acc. Each shows so many bytes.
func foldShown(ctx context.Context, c Comm, s Commons, o order, acc []byte, offset, shown int) error {
	var room []byte
	if !o.op.Commutative {
		room = c.Scratch(o.rooms() * len(acc))
	}
	return o.fold(acc, room, func(rank int, _ []byte) ([]byte, error) {
		b, err := s.Look(ctx, rank, shown)
		if err != nil {
			return nil, err
		}
		return b[offset : offset+len(acc)], nil
	})
}

// flatAllreduce is up to how many bytes each process combines all values by itself. Of more each combines a part, which it
// then shows.
const flatAllreduce = 2 << 10

// allreduceShared combines the values in of all into out. They are shown in pieces.
func allreduceShared(ctx context.Context, c Comm, s Commons, op Op, in, out []byte) error {
	if len(in) <= min(flatAllreduce, s.Room()) {
		s.Begin(len(in))
		if err := show(ctx, s, in); err != nil {
			return err
		}
		if err := foldShown(ctx, c, s, inCore(op, c.Size()), out, 0, len(in)); err != nil {
			return err
		}
		return s.End(true)
	}
	return inPieces(len(in), s.Room()/op.Size*op.Size, func(from, to int) error {
		return allreducePiece(ctx, c, s, op, in[from:to], out[from:to])
	})
}

func allreducePiece(ctx context.Context, c Comm, s Commons, op Op, in, out []byte) error {
	parts := cutOf(out, op.Size, c.Size())
	part := func(rank int) []byte { return parts.part(rank, rank+1) }
	s.Begin(len(in))
	if err := show(ctx, s, in); err != nil {
		return err
	}
	own := part(c.Rank())
	if err := foldShown(ctx, c, s, inCore(op, c.Size()), own, min(c.Rank()*parts.each, len(in)), len(in)); err != nil {
		return err
	}
	if err := s.End(true); err != nil {
		return err
	}
	s.Begin(parts.each)
	if err := show(ctx, s, own); err != nil {
		return err
	}
	return lookAll(ctx, c, s, func(rank int) int { return len(part(rank)) }, func(rank int, b []byte) { s.Copy(part(rank), b) })
}

// reduceScatterShared has each process combine its own part of what all show.
func reduceScatterShared(ctx context.Context, c Comm, s Commons, op Op, in, out []byte, from int) error {
	s.Begin(len(in))
	if err := show(ctx, s, in); err != nil {
		return err
	}
	if err := foldShown(ctx, c, s, inTree(op, c.Size()), out, from, len(in)); err != nil {
		return err
	}
	return s.End(true)
}

// scanShared has each process combine what those before it show, and with it what it shows itself, if it is included.
func scanShared(ctx context.Context, c Comm, s Commons, op Op, in, out []byte, included int) error {
	s.Begin(len(in))
	if err := show(ctx, s, in); err != nil {
		return err
	}
	if err := foldShown(ctx, c, s, inTree(op, c.Rank()+included), out, 0, len(in)); err != nil {
		return err
	}
	return s.End(false)
}

// gatherShared has the root look at what all others show.
func gatherShared(ctx context.Context, c Comm, s Commons, in, out []byte, root int) error {
	each := len(in)
	return inPieces(each, s.Room(), func(from, to int) error {
		s.Begin(to - from)
		if c.Rank() != root {
			if err := show(ctx, s, in[from:to]); err != nil {
				return err
			}
			return s.End(false)
		}
		copy(out[root*each+from:root*each+to], in[from:to])
		return lookAll(ctx, c, s, func(int) int { return to - from }, func(rank int, b []byte) { s.Copy(out[rank*each+from:], b) })
	})
}

// scatterShared has each process look at its part of what the root shows.
func scatterShared(ctx context.Context, c Comm, s Commons, in, out []byte, root int) error {
	n, rank := c.Size(), c.Rank()
	return inPieces(len(out), s.Room()/n, func(from, to int) error {
		each := to - from
		s.Begin(n * each)
		if rank != root {
			b, err := s.Look(ctx, root, n*each)
			if err != nil {
				return err
			}
			s.Copy(out[from:to], b[rank*each:])
			return s.End(false)
		}
		copy(out[from:to], in[root*len(out)+from:])
		p, err := s.Place(ctx, n*each)
		if err != nil {
			return err
		}
		for to := range n {
			s.Copy(p[to*each:(to+1)*each], in[to*len(out)+from:])
		}
		if err := s.Show(false); err != nil {
			return err
		}
		return s.End(false)
	})
}

// allgatherShared has all look at what all show. Out has this process's values.
func allgatherShared(ctx context.Context, c Comm, s Commons, out []byte, each int) error {
	own := out[c.Rank()*each:]
	most := s.Room() // in a crowd a piece more is a turn of the processor more for each
	if !s.Crowded() {
		most = min(most, max(each/4, pieceShown))
	}
	return inPieces(each, most, func(from, to int) error {
		s.Begin(to - from)
		if err := show(ctx, s, own[from:to]); err != nil {
			return err
		}
		return lookAll(ctx, c, s, func(int) int { return to - from }, func(rank int, b []byte) { s.Copy(out[rank*each+from:], b) })
	})
}

// alltoallShared has each show a piece of what it has for each of the others, and look at the pieces for it. What is shown is read
// from in before anything of the same place is written to out, so these may be the same memory.
func alltoallShared(ctx context.Context, c Comm, s Commons, in, out []byte, each int) error {
	n, own := c.Size(), c.Rank()
	fill(out[own*each:(own+1)*each], in[own*each:(own+1)*each])
	return inPieces(each, s.Room()/n, func(from, to int) error {
		width := to - from
		s.Begin(n * width)
		p, err := s.Place(ctx, n*width)
		if err != nil {
			return err
		}
		for rank := range n {
			if rank != own {
				s.Copy(p[rank*width:(rank+1)*width], in[rank*each+from:])
			}
		}
		if err := s.Show(false); err != nil {
			return err
		}
		return lookAll(ctx, c, s, func(int) int { return n * width }, func(rank int, b []byte) { s.Copy(out[rank*each+from:], b[own*width:(own+1)*width]) })
	})
}
