package coll

import "context"

// Allgather collects in of all processes in out, everywhere, in the order of their ranks.
func Allgather(ctx context.Context, c Comm, ch *Choice, in, out []byte) error {
	given(ctx)
	n, rank, each := c.Size(), c.Rank(), len(in)
	fill(out[rank*each:(rank+1)*each], in)
	if n == 1 {
		return nil
	}
	switch s, way := memoryFor(c, ch.name("allgather"), each, sharedAllgather); way {
	case byShowing:
		return allgatherShared(ctx, c, s, out, each)
	case byLending:
		return allgatherLent(ctx, c, s, out, each)
	}
	switch ch.allgather(each, n, crowded(c)) {
	case "doubling":
		return allgatherDoubling(ctx, c, out, each)
	case "bruck":
		return allgatherBruck(ctx, c, out, each)
	}
	return ring(ctx, c, cut{out, each, n}, rank, (rank+1)%n, (rank-1+n)%n)
}

// allgatherDoubling doubles what each has with each round. The number of processes is a power of
// two.
func allgatherDoubling(ctx context.Context, c Comm, out []byte, each int) error {
	n, rank := c.Size(), c.Rank()
	for mask := 1; mask < n; mask <<= 1 {
		partner := rank ^ mask
		own, theirs := rank&^(mask-1), partner&^(mask-1)
		if err := exchange(ctx, c, out[own*each:(own+mask)*each], partner, out[theirs*each:(theirs+mask)*each], partner); err != nil {
			return err
		}
	}
	return nil
}

// allgatherBruck takes ⌈log₂ n⌉ rounds for any number of processes, and a copy of all at the end
// (Bruck and others, IEEE TPDS 8(11), 1997).
func allgatherBruck(ctx context.Context, c Comm, out []byte, each int) error {
	n, rank := c.Size(), c.Rank()
	held := c.Scratch(n * each)
	copy(held, out[rank*each:(rank+1)*each])
	for have := 1; have < n; have *= 2 {
		more := min(have, n-have)
		if err := exchange(ctx, c, held[:more*each], (rank-have+n)%n, held[have*each:(have+more)*each], (rank+have)%n); err != nil {
			return err
		}
	}
	copy(out[rank*each:], held)
	copy(out, held[(n-rank)*each:])
	return nil
}

// Allgatherv collects in of all processes everywhere: that of rank r in pieces[r], which has its
// length.
func Allgatherv(ctx context.Context, c Comm, in []byte, pieces [][]byte) error {
	return AllgatherParts(ctx, bytesOf{c}, in, pieces)
}

// AllgatherParts is [Allgatherv] for parts of any kind.
func AllgatherParts[P any, C Passer[P]](ctx context.Context, c C, in P, pieces []P) error {
	given(ctx)
	n, rank := c.Size(), c.Rank()
	if err := c.Fill(pieces[rank], in); err != nil {
		return err
	}
	for i := range n - 1 {
		out, in := (rank-i+n)%n, (rank-i-1+2*n)%n
		if err := exchange(ctx, c, pieces[out], (rank+1)%n, pieces[in], (rank-1+n)%n); err != nil {
			return err
		}
	}
	return nil
}
