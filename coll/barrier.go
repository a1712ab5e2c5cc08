package coll

import "context"

// Barrier returns when all processes have called it: the dissemination barrier of Hensgen, Finkel
// and Manber, ⌈log₂ n⌉ rounds.
func Barrier(ctx context.Context, c Comm) error {
	given(ctx)
	n, rank := c.Size(), c.Rank()
	for distance := 1; distance < n; distance *= 2 {
		if err := exchange(ctx, c, nil, (rank+distance)%n, nil, (rank-distance+n)%n); err != nil {
			return err
		}
	}
	return nil
}
