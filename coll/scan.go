package coll

import "context"

// Scan combines the values in of ranks 0 to this one into out.
func Scan(ctx context.Context, c Comm, op Op, in, out []byte) error {
	given(ctx)
	if s, way := memoryFolding(op, c, "", len(in), sharedScan); way == byShowing && len(in) <= s.Room() {
		return scanShared(ctx, c, s, op, in, out, 1)
	}
	fill(out, in)
	return scan(ctx, c, op, out, nil)
}

// Exscan combines the values in of ranks 0 to the one before this into out. At rank 0 out stays as
// it is.
func Exscan(ctx context.Context, c Comm, op Op, in, out []byte) error {
	given(ctx)
	if s, way := memoryFolding(op, c, "", len(in), sharedScan); way == byShowing && len(in) <= s.Room() {
		return scanShared(ctx, c, s, op, in, out, 0)
	}
	whole := c.Scratch(len(in))
	copy(whole, in)
	return scan(ctx, c, op, whole, out)
}

// scan combines what this process has with that of a partner twice as far away each round. Acc is
// combined with all from lower ranks, and before has only these.
func scan(ctx context.Context, c Comm, op Op, acc, before []byte) error {
	n, rank := c.Size(), c.Rank()
	memory := c.Scratch(2 * len(acc))
	row, other := memory[:len(acc)], memory[len(acc):] // row: of all ranks that were met
	copy(row, acc)
	first := true
	for mask := 1; mask < n; mask <<= 1 {
		partner := rank ^ mask
		if partner >= n {
			continue
		}
		if err := exchange(ctx, c, row, partner, other, partner); err != nil {
			return err
		}
		if partner > rank {
			op.Fold(row, other, false)
			continue
		}
		op.Fold(row, other, true)
		if before == nil {
			op.Fold(acc, other, true)
			continue
		}
		if first {
			copy(before, other)
		} else {
			op.Fold(before, other, true)
		}
		first = false
	}
	return nil
}
