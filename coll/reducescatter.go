package coll

import "context"

// ReduceScatter combines the values in of all processes. Rank r gets, in out, the part of the
// result that is lengths[r] bytes long. The lengths are those of whole elements, and the same
// everywhere.
func ReduceScatter(ctx context.Context, c Comm, ch *Choice, op Op, in, out []byte, lengths func(rank int) int) error {
	given(ctx)
	n, rank := c.Size(), c.Rank()
	if n == 1 {
		fill(out, in)
		return nil
	}
	from := 0
	for r := range rank {
		from += lengths(r)
	}
	switch s, way := memoryFolding(op, c, ch.name("reducescatter"), len(in), sharedReduceScatter); {
	case way == byShowing && len(in) <= s.Room():
		return reduceScatterShared(ctx, c, s, op, in, out, from)
	case way == byLending:
		return reduceScatterLent(ctx, c, s, op, in, out, from)
	}
	if ch.reduceScatter(len(in), crowded(c)) == "rooted" {
		return reduceScatterRooted(ctx, c, op, in, out, lengths)
	}
	place := func(r int) []byte {
		from := 0
		for i := range r {
			from += lengths(i)
		}
		return in[from : from+lengths(r)]
	}
	if !op.Commutative {
		return reduceThenScatter(ctx, c, ch, op, in, out, lengths)
	}
	// Pairwise: each round has another partner's part, so nothing is sent that is not wanted.
	acc, other := c.Scratch(len(out)), c.Scratch(len(out))
	copy(acc, place(rank))
	for i := 1; i < n; i++ {
		to, from := (rank+i)%n, (rank-i+n)%n
		if err := exchange(ctx, c, place(to), to, other, from); err != nil {
			return err
		}
		op.Fold(acc, other, from < rank)
	}
	copy(out, acc)
	return nil
}

// reduceThenScatter keeps the order of ranks.
func reduceThenScatter(ctx context.Context, c Comm, ch *Choice, op Op, in, out []byte, lengths func(rank int) int) error {
	all := c.Scratch(len(in))
	if err := Reduce(ctx, c, ch, op, in, all, 0); err != nil {
		return err
	}
	return scatterInOrder(ctx, c, all, out, lengths)
}
