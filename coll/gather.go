package coll

import "context"

// Gather collects in of all processes at the root, in the order of their ranks. Out, at the root
// alone, is Size times as long.
func Gather(ctx context.Context, c Comm, ch *Choice, in, out []byte, root int) error {
	given(ctx)
	switch s, way := memoryFor(c, ch.name("gather"), len(in), sharedGather); way {
	case byShowing:
		return gatherShared(ctx, c, s, in, out, root)
	case byLending:
		return gatherLent(ctx, c, s, in, out, root)
	}
	if ch.gather(len(in), c.Size()) == "binomial" {
		return gatherBinomial(ctx, c, in, out, root)
	}
	return gatherLinear(ctx, bytesOf{c}, in, func(rank int) []byte { return out[rank*len(in) : (rank+1)*len(in)] }, root)
}

// Gatherv collects in of all processes at the root: that of rank r in pieces[r], which has its
// length.
func Gatherv(ctx context.Context, c Comm, in []byte, pieces [][]byte, root int) error {
	return GatherParts(ctx, bytesOf{c}, in, pieces, root)
}

// GatherParts is [Gatherv] for parts of any kind.
func GatherParts[P any, C Passer[P]](ctx context.Context, c C, in P, parts []P, root int) error {
	given(ctx)
	return gatherLinear(ctx, c, in, func(rank int) P { return parts[rank] }, root)
}

func gatherLinear[P any, C Passer[P]](ctx context.Context, c C, in P, piece func(rank int) P, root int) error {
	if c.Rank() != root {
		return send(ctx, c, in, root)
	}
	for from := range c.Size() {
		if from == root {
			if err := c.Fill(piece(root), in); err != nil {
				return err
			}
		} else if err := c.Recv(piece(from), from); err != nil {
			return err
		}
	}
	return c.Wait(ctx)
}

// gatherBinomial collects along a binomial tree: few messages for who is the root.
func gatherBinomial(ctx context.Context, c Comm, in, out []byte, root int) error {
	n, each := c.Size(), len(in)
	own := (c.Rank() - root + n) % n
	held := c.Scratch(rows(own, n) * each)
	copy(held, in)
	for mask := 1; mask < n; mask <<= 1 {
		if own&mask != 0 {
			return send(ctx, c, held, (own-mask+root)%n)
		}
		if own+mask < n {
			have := rows(own+mask, n)
			if err := recv(ctx, c, held[mask*each:(mask+have)*each], (own+mask+root)%n); err != nil {
				return err
			}
		}
	}
	// Those of the root are first here.
	copy(out[root*each:], held)
	copy(out, held[(n-root)*each:])
	return nil
}

// rows is how many processes are in the subtree of one of n in a binomial tree.
func rows(own, n int) int {
	if own == 0 {
		return n
	}
	return min(own&-own, n-own)
}

// Scatter gives each process its part of the root's in, which is Size times as long as out.
func Scatter(ctx context.Context, c Comm, ch *Choice, in, out []byte, root int) error {
	given(ctx)
	switch s, way := memoryFor(c, ch.name("scatter"), len(out), sharedScatter); way {
	case byShowing:
		return scatterShared(ctx, c, s, in, out, root)
	case byLending:
		return scatterLent(ctx, c, s, in, out, root)
	}
	if ch.scatter(len(out), c.Size()) == "binomial" {
		return scatterBinomial(ctx, c, in, out, root)
	}
	return scatterLinear(ctx, bytesOf{c}, func(rank int) []byte { return in[rank*len(out) : (rank+1)*len(out)] }, out, root)
}

// Scatterv gives each process its piece of the root's.
func Scatterv(ctx context.Context, c Comm, pieces [][]byte, out []byte, root int) error {
	return ScatterParts(ctx, bytesOf{c}, pieces, out, root)
}

// ScatterParts is [Scatterv] for parts of any kind.
func ScatterParts[P any, C Passer[P]](ctx context.Context, c C, parts []P, out P, root int) error {
	given(ctx)
	return scatterLinear(ctx, c, func(rank int) P { return parts[rank] }, out, root)
}

func scatterLinear[P any, C Passer[P]](ctx context.Context, c C, piece func(rank int) P, out P, root int) error {
	if c.Rank() != root {
		return recv(ctx, c, out, root)
	}
	for to := range c.Size() {
		if to == root {
			if err := c.Fill(out, piece(root)); err != nil {
				return err
			}
		} else if err := c.Send(piece(to), to); err != nil {
			return err
		}
	}
	return c.Wait(ctx)
}

// scatterBinomial gives out along a binomial tree.
func scatterBinomial(ctx context.Context, c Comm, in, out []byte, root int) error {
	n, each := c.Size(), len(out)
	own := (c.Rank() - root + n) % n
	held := c.Scratch(rows(own, n) * each)
	mask := below(n)
	if mask < n {
		mask *= 2
	}
	if own == 0 {
		copy(held, in[root*each:])
		copy(held[(n-root)*each:], in[:root*each])
	} else {
		mask = own & -own
		if err := recv(ctx, c, held, (own-mask+root)%n); err != nil {
			return err
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if own+mask < n {
			have := rows(own+mask, n)
			if err := c.Send(held[mask*each:(mask+have)*each], (own+mask+root)%n); err != nil {
				return err
			}
		}
	}
	copy(out, held)
	return c.Wait(ctx)
}
