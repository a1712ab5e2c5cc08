package coll

import "context"

// Reduce combines the values in of all processes into out at the root. Out is nothing elsewhere.
func Reduce(ctx context.Context, c Comm, ch *Choice, op Op, in, out []byte, root int) error {
	given(ctx)
	if c.Size() == 1 {
		fill(out, in)
		return nil
	}
	switch s, way := memoryFolding(op, c, ch.name("reduce"), len(in), sharedReduce); way {
	case byShowing:
		return reduceShared(ctx, c, s, op, in, out, root)
	case byLending:
		return reduceLent(ctx, c, s, op, in, out, root)
	}
	t := teamsOf(c)
	switch ch.reduce(len(in), c.Size(), op, t) {
	case "hosts":
		return reduceHosts(ctx, c, t, op, in, out, root)
	case "scatter":
		return reduceScatterGather(ctx, c, op, in, out, root)
	}
	return reduceBinomial(ctx, c, op, in, out, root)
}

// reduceBinomial combines along a binomial tree. Where the order matters the tree begins at rank
// 0, so that each process has a row of ranks, and rank 0 sends the result on.
func reduceBinomial(ctx context.Context, c Comm, op Op, in, out []byte, root int) error {
	n, rank, top := c.Size(), c.Rank(), root
	if !op.Commutative {
		top = 0
	}
	own := (rank - top + n) % n
	memory := c.Scratch(2 * len(in))
	acc, other := memory[:len(in)], memory[len(in):]
	if own == 0 && rank == root {
		acc = out
	}
	fill(acc, in)
	for mask := 1; mask < n; mask <<= 1 {
		if own&mask != 0 {
			if err := send(ctx, c, acc, (own-mask+top)%n); err != nil {
				return err
			}
			break
		}
		if own+mask < n {
			if err := recv(ctx, c, other, (own+mask+top)%n); err != nil {
				return err
			}
			op.Fold(acc, other, false)
		}
	}
	switch {
	case top == root:
		return nil
	case rank == top:
		return send(ctx, c, acc, root)
	case rank == root:
		return recv(ctx, c, out, top)
	}
	return nil
}

// reduceScatterGather combines parts round a ring, which the root then collects: each process
// sends twice the buffer at most.
func reduceScatterGather(ctx context.Context, c Comm, op Op, in, out []byte, root int) error {
	n, rank := c.Size(), c.Rank()
	acc := out
	if rank != root {
		acc = c.Scratch(len(in))
	}
	fill(acc, in)
	parts := cutOf(acc, op.Size, n)
	if err := ringReduce(ctx, c, op, parts, c.Scratch(parts.each)); err != nil {
		return err
	}
	if rank != root {
		return send(ctx, c, parts.part(rank, rank+1), root)
	}
	for from := range n {
		if from != root {
			if err := c.Recv(parts.part(from, from+1), from); err != nil {
				return err
			}
		}
	}
	return c.Wait(ctx)
}

// ringReduce has parts go round and grow: in the end this process has the whole of the part with
// its own number.
func ringReduce(ctx context.Context, c Comm, op Op, parts cut, other []byte) error {
	n, rank := c.Size(), c.Rank()
	for i := range n - 1 {
		out, in := (rank-i-1+2*n)%n, (rank-i-2+2*n)%n
		into := parts.part(in, in+1)
		got := other[:len(into)]
		if err := exchange(ctx, c, parts.part(out, out+1), (rank+1)%n, got, (rank-1+n)%n); err != nil {
			return err
		}
		op.Fold(into, got, true)
	}
	return nil
}
