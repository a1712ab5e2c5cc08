package coll

import "context"

// Allreduce combines the values in of all processes into out, everywhere.
func Allreduce(ctx context.Context, c Comm, ch *Choice, op Op, in, out []byte) error {
	given(ctx)
	if c.Size() == 1 {
		fill(out, in)
		return nil
	}
	switch s, way := memoryFolding(op, c, ch.name("allreduce"), len(in), sharedAllreduce); way {
	case byShowing:
		return allreduceShared(ctx, c, s, op, in, out)
	case byLending:
		return allreduceLent(ctx, c, s, op, in, out)
	}
	fill(out, in)
	t := teamsOf(c)
	switch ch.allreduce(len(in), c.Size(), op, t) {
	case "hosts":
		return allreduceHosts(ctx, c, t, op, out)
	case "tree":
		return allreduceTree(ctx, c, op, out)
	case "ring":
		return allreduceRing(ctx, c, op, out)
	case "rabenseifner":
		return allreduceRabenseifner(ctx, c, op, out)
	}
	return allreduceDoubling(ctx, c, op, out)
}

// allreduceRing combines parts round a ring, which then go round once more: each process sends
// twice the buffer, whatever their number.
func allreduceRing(ctx context.Context, c Comm, op Op, acc []byte) error {
	n, rank := c.Size(), c.Rank()
	parts := cutOf(acc, op.Size, n)
	if err := ringReduce(ctx, c, op, parts, c.Scratch(parts.each)); err != nil {
		return err
	}
	return ring(ctx, c, parts, rank, (rank+1)%n, (rank-1+n)%n)
}

// A core is a power of two of processes that have what all have. Of the others each has given its
// values to a neighbour, and gets the result from it.
type core struct {
	c     Comm
	size  int
	extra int // processes beside the core
	own   int // number in the core; −1: beside it
}

func coreOf(c Comm) core {
	k := core{c: c, size: below(c.Size())}
	k.extra = c.Size() - k.size
	switch rank := c.Rank(); {
	case rank >= 2*k.extra:
		k.own = rank - k.extra
	case rank%2 == 1:
		k.own = rank / 2
	default:
		k.own = -1
	}
	return k
}

// rank is the rank of a member of the core.
func (k core) rank(own int) int {
	if own < k.extra {
		return 2*own + 1
	}
	return own + k.extra
}

// enter gives the values of those beside the core to their neighbours.
func (k core) enter(ctx context.Context, op Op, acc, other []byte) error {
	switch rank := k.c.Rank(); {
	case k.own < 0:
		return send(ctx, k.c, acc, rank+1)
	case k.own < k.extra:
		if err := recv(ctx, k.c, other, rank-1); err != nil {
			return err
		}
		op.Fold(acc, other, true)
	}
	return nil
}

// leave gives them the result.
func (k core) leave(ctx context.Context, acc []byte) error {
	switch rank := k.c.Rank(); {
	case k.own < 0:
		return recv(ctx, k.c, acc, rank+1)
	case k.own < k.extra:
		return send(ctx, k.c, acc, rank-1)
	}
	return nil
}

// allreduceDoubling exchanges all with a partner twice as far away each round. Each process has a
// row of ranks that doubles, so it keeps their order.
func allreduceDoubling(ctx context.Context, c Comm, op Op, acc []byte) error {
	k, other := coreOf(c), c.Scratch(len(acc))
	if err := k.enter(ctx, op, acc, other); err != nil {
		return err
	}
	for mask := 1; mask < k.size && k.own >= 0; mask <<= 1 {
		partner := k.own ^ mask
		if err := exchange(ctx, c, acc, k.rank(partner), other, k.rank(partner)); err != nil {
			return err
		}
		op.Fold(acc, other, partner < k.own)
	}
	return k.leave(ctx, acc)
}

// allreduceRabenseifner halves what a process works on with each round, and then doubles it again:
// each process sends twice the buffer in 2 log₂ n rounds.
func allreduceRabenseifner(ctx context.Context, c Comm, op Op, acc []byte) error {
	k, other := coreOf(c), c.Scratch(len(acc))
	if err := k.enter(ctx, op, acc, other); err != nil {
		return err
	}
	parts := cutOf(acc, op.Size, k.size)
	from, to := 0, k.size
	for mask := k.size / 2; mask > 0 && k.own >= 0; mask /= 2 {
		partner, middle := k.rank(k.own^mask), from+mask
		keep, give := parts.part(from, middle), parts.part(middle, to)
		if k.own&mask != 0 {
			keep, give = give, keep
			from = middle
		} else {
			to = middle
		}
		got := other[:len(keep)]
		if err := exchange(ctx, c, give, partner, got, partner); err != nil {
			return err
		}
		op.Fold(keep, got, k.own&mask != 0)
	}
	for mask := 1; mask < k.size && k.own >= 0; mask <<= 1 {
		partner, has := k.rank(k.own^mask), parts.part(from, to)
		lower, upper := from, to+mask
		if k.own&mask != 0 {
			lower, upper = from-mask, to
		}
		want := parts.part(to, upper)
		if k.own&mask != 0 {
			want = parts.part(lower, from)
		}
		if err := exchange(ctx, c, has, partner, want, partner); err != nil {
			return err
		}
		from, to = lower, upper
	}
	return k.leave(ctx, acc)
}
