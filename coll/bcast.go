package coll

import "context"

// Bcast copies the root's buffer into all others.
func Bcast(ctx context.Context, c Comm, ch *Choice, buf []byte, root int) error {
	given(ctx)
	if c.Size() == 1 {
		return nil
	}
	switch s, way := memoryFor(c, ch.name("bcast"), len(buf), sharedBcast); way {
	case byShowing:
		return bcastShared(ctx, c, s, buf, root)
	case byLending:
		return bcastLent(ctx, c, s, buf, root)
	}
	t := teamsOf(c)
	switch ch.bcast(len(buf), c.Size(), t) {
	case "hosts":
		return bcastHosts(ctx, c, t, buf, root)
	case "scatter":
		return bcastScatter(ctx, c, buf, root)
	case "chain":
		return bcastChain(ctx, c, buf, root)
	}
	return bcastBinomial(ctx, c, buf, root)
}

// bcastBinomial passes all along a binomial tree: ⌈log₂ n⌉ rounds.
func bcastBinomial(ctx context.Context, c Comm, buf []byte, root int) error {
	n := c.Size()
	own := (c.Rank() - root + n) % n
	mask := 1
	for ; mask < n; mask <<= 1 {
		if own&mask != 0 {
			if err := recv(ctx, c, buf, (own-mask+root)%n); err != nil {
				return err
			}
			break
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if own+mask < n {
			if err := c.Send(buf, (own+mask+root)%n); err != nil {
				return err
			}
		}
	}
	return c.Wait(ctx)
}

// bcastScatter gives each process a part along a binomial tree, and then all have all parts go
// round a ring: each process sends and receives twice the buffer at most (van de Geijn).
func bcastScatter(ctx context.Context, c Comm, buf []byte, root int) error {
	n := c.Size()
	own, parts := (c.Rank()-root+n)%n, cutOf(buf, 1, n)
	mask := 1
	for ; mask < n; mask <<= 1 {
		if own&mask != 0 {
			if err := recv(ctx, c, parts.part(own, min(own+mask, n)), (own-mask+root)%n); err != nil {
				return err
			}
			break
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if own+mask < n {
			if err := send(ctx, c, parts.part(own+mask, min(own+2*mask, n)), (own+mask+root)%n); err != nil {
				return err
			}
		}
	}
	return ring(ctx, c, parts, own, (c.Rank()+1)%n, (c.Rank()-1+n)%n)
}

// ring has the parts go round: this process has the part own, and all in the end.
func ring(ctx context.Context, c Comm, parts cut, own, next, last int) error {
	n := parts.parts
	for i := range n - 1 {
		out, in := (own-i+n)%n, (own-i-1+2*n)%n
		if err := exchange(ctx, c, parts.part(out, out+1), next, parts.part(in, in+1), last); err != nil {
			return err
		}
	}
	return nil
}

// segment is how much goes down a chain at a time.
const segment = 64 << 10

// bcastChain passes segments down a chain: who has one sends it on while the next one comes.
func bcastChain(ctx context.Context, c Comm, buf []byte, root int) error {
	n := c.Size()
	own := (c.Rank() - root + n) % n
	next, last := (c.Rank()+1)%n, (c.Rank()-1+n)%n
	for at, had := 0, []byte(nil); at < len(buf) || had != nil; at += segment {
		var piece []byte
		if at < len(buf) {
			piece = buf[at:min(at+segment, len(buf))]
		}
		if own == 0 {
			had, piece = piece, nil
		}
		if piece != nil {
			if err := c.Recv(piece, last); err != nil {
				return err
			}
		}
		if had != nil && own < n-1 {
			if err := c.Send(had, next); err != nil {
				return err
			}
		}
		if err := c.Wait(ctx); err != nil {
			return err
		}
		if had = piece; own == n-1 {
			had = nil
		}
	}
	return nil
}
