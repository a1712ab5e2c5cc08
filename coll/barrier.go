package coll

import "context"

// Barrier returns when all processes have called it.
func Barrier(ctx context.Context, c Comm, ch *Choice) error {
	given(ctx)
	if s, way := memoryFor(c, ch.name("barrier"), 0, sharedBarrier); way == byShowing {
		return barrierShared(ctx, c, s)
	}
	t := teamsOf(c)
	switch ch.barrier(c.Size(), t) {
	case "hosts":
		return barrierHosts(ctx, c, t)
	case "tree":
		return barrierTree(ctx, c)
	}
	return barrierDissemination(ctx, c)
}

// barrierDissemination is that of Hensgen, Finkel and Manber: ⌈log₂ n⌉ rounds.
func barrierDissemination(ctx context.Context, c Comm) error {
	n, rank := c.Size(), c.Rank()
	for distance := 1; distance < n; distance *= 2 {
		if err := exchange(ctx, c, nil, (rank+distance)%n, nil, (rank-distance+n)%n); err != nil {
			return err
		}
	}
	return nil
}
