package coll

import "context"

// Scan combines the values in of ranks 0 to this one into out.
func Scan(ctx context.Context, c Comm, op Op, in, out []byte) error {
	given(ctx)
	if s, way := memoryFolding(op, c, "", len(in), sharedScan); way == byShowing && len(in) <= s.Room() {
		return scanShared(ctx, c, s, op, in, out, 1)
	}
	fill(out, in)
	return scanOf(ctx, c, op, out, nil)
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
	return scanOf(ctx, c, op, whole, out)
}

// scanOf combines into acc, and what is from lower ranks alone into before, unless that is nil.
func scanOf(ctx context.Context, c Comm, op Op, acc, before []byte) error {
	if each := scanSegment(op, len(acc), c.Size(), crowded(c)); each > 0 {
		return scanChain(ctx, c, op, acc, before, each)
	}
	return scanDoubling(ctx, c, op, acc, before)
}

// scanChain passes what lower ranks have up a chain: who has combined so many bytes sends them on while the next ones come. Each
// byte is sent and combined once for each process, in pairs that are not those of [scanDoubling].
func scanChain(ctx context.Context, c Comm, op Op, acc, before []byte, each int) error {
	n, rank := c.Size(), c.Rank()
	var other []byte
	if rank > 0 && before == nil {
		other = c.Scratch(min(each, len(acc)))
	}
	for at, had := 0, []byte(nil); at < len(acc) || had != nil; at += each {
		var piece, lower []byte
		if at < len(acc) {
			piece = acc[at:min(at+each, len(acc))]
		}
		if rank == 0 {
			had = piece
		} else if piece != nil {
			if lower = other; before != nil {
				lower = before[at:]
			}
			lower = lower[:len(piece)]
			if err := c.Recv(lower, rank-1); err != nil {
				return err
			}
		}
		if had != nil && rank < n-1 {
			if err := c.Send(had, rank+1); err != nil {
				return err
			}
		}
		if err := c.Wait(ctx); err != nil {
			return err
		}
		if had = nil; rank == 0 {
			continue
		}
		if rank < n-1 {
			had = piece
		}
		if before == nil || had != nil {
			op.Fold(piece, lower, true)
		}
	}
	return nil
}

// scanDoubling combines what this process has with that of a partner twice as far away each round. Acc is
// combined with all from lower ranks, and before has only these. Higher ranks need what lower ones have, and lower ones that of
// higher ones as far as they pass it on: with ranks that are above both, and as far away as the next round goes.
func scanDoubling(ctx context.Context, c Comm, op Op, acc, before []byte) error {
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
		back := min(rank, partner)+2*mask < n
		if partner > rank {
			if err := scanUp(ctx, c, op, row, other, partner, back); err != nil {
				return err
			}
			continue
		}
		if err := scanDown(ctx, c, row, other, partner, back); err != nil {
			return err
		}
		if rank+2*mask < n {
			op.Fold(row, other, true)
		}
		switch {
		case before == nil:
			op.Fold(acc, other, true)
		case first:
			copy(before, other)
		default:
			op.Fold(before, other, true)
		}
		first = false
	}
	return nil
}

// scanUp sends a higher rank what it needs, and has what comes back, if something does, in the row.
func scanUp(ctx context.Context, c Comm, op Op, row, other []byte, to int, back bool) error {
	if !back {
		return send(ctx, c, row, to)
	}
	if err := exchange(ctx, c, row, to, other, to); err != nil {
		return err
	}
	op.Fold(row, other, false)
	return nil
}

// scanDown receives what a lower rank has, and sends the row back if that one needs it.
func scanDown(ctx context.Context, c Comm, row, other []byte, from int, back bool) error {
	if !back {
		return recv(ctx, c, other, from)
	}
	return exchange(ctx, c, row, from, other, from)
}
