package strand

import (
	"context"
	"fmt"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
)

// The calls below are collective: all processes of the communicator make them, in the same order,
// with the same root and with lengths that fit. Those whose names begin with I return at once; the
// request is complete when this process has done its part, and its buffers are the library's until
// then. After an error buffers hold anything, and what was to be sent may still be read. Lengths that do
// not fit are an error where a message tells, which is on the receiving rank.
//
// Package coll has the algorithms; the parameters coll_bcast and the like name one.

// Bcast copies the root's buf to all others (MPI_Bcast).
func (c *Comm) Bcast(ctx context.Context, buf []byte, root int) error {
	given.Context(ctx)
	if err := c.checkRoot("Bcast", root); err != nil {
		return err
	}
	return c.carry(ctx, "Bcast", func(ctx context.Context, k *courier) error {
		return coll.Bcast(ctx, k, &c.world.choice, buf, root)
	})
}

// Ibcast is [Comm.Bcast] that goes on by itself.
func (c *Comm) Ibcast(buf []byte, root int) (Request, error) {
	if err := c.checkRoot("Ibcast", root); err != nil {
		return Request{}, err
	}
	return c.begin("Ibcast", func(ctx context.Context, k *courier) error {
		return coll.Bcast(ctx, k, &c.world.choice, buf, root)
	})
}

// Ibarrier is [Comm.Barrier] that goes on by itself: the request is complete when all have called
// it.
func (c *Comm) Ibarrier() (Request, error) {
	return c.begin("Ibarrier", func(ctx context.Context, k *courier) error { return coll.Barrier(ctx, k) })
}

// Gather collects in of all processes at the root, in the order of ranks. Out counts at the root
// alone, where it is Size times as long (MPI_Gather).
func (c *Comm) Gather(ctx context.Context, in, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkWhole("Gather", in, out, root); err != nil {
		return err
	}
	return c.carry(ctx, "Gather", func(ctx context.Context, k *courier) error {
		return coll.Gather(ctx, k, &c.world.choice, in, out, root)
	})
}

// Gatherv collects in of all processes at the root: that of rank r in pieces[r], which has its
// length. Pieces count at the root alone (MPI_Gatherv).
func (c *Comm) Gatherv(ctx context.Context, in []byte, pieces [][]byte, root int) error {
	given.Context(ctx)
	if err := c.checkPieces("Gatherv", pieces, root); err != nil {
		return err
	}
	return c.carry(ctx, "Gatherv", func(ctx context.Context, k *courier) error {
		return coll.Gatherv(ctx, k, in, pieces, root)
	})
}

// Scatter gives each process its part of the root's in, which counts there alone and is Size times as
// long as out (MPI_Scatter).
func (c *Comm) Scatter(ctx context.Context, in, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkWhole("Scatter", out, in, root); err != nil {
		return err
	}
	return c.carry(ctx, "Scatter", func(ctx context.Context, k *courier) error {
		return coll.Scatter(ctx, k, &c.world.choice, in, out, root)
	})
}

// Scatterv gives each process its piece of the root's (MPI_Scatterv).
func (c *Comm) Scatterv(ctx context.Context, pieces [][]byte, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkPieces("Scatterv", pieces, root); err != nil {
		return err
	}
	return c.carry(ctx, "Scatterv", func(ctx context.Context, k *courier) error {
		return coll.Scatterv(ctx, k, pieces, out, root)
	})
}

// Allgather collects in of all processes in out, everywhere, in the order of ranks. Out is Size
// times as long (MPI_Allgather). In may be this rank's place in out.
func (c *Comm) Allgather(ctx context.Context, in, out []byte) error {
	given.Context(ctx)
	if err := c.checkLength("Allgather", "out", len(out), len(in)); err != nil {
		return err
	}
	return c.carry(ctx, "Allgather", func(ctx context.Context, k *courier) error {
		return coll.Allgather(ctx, k, &c.world.choice, in, out)
	})
}

// Iallgather is [Comm.Allgather] that goes on by itself.
func (c *Comm) Iallgather(in, out []byte) (Request, error) {
	if err := c.checkLength("Iallgather", "out", len(out), len(in)); err != nil {
		return Request{}, err
	}
	return c.begin("Iallgather", func(ctx context.Context, k *courier) error {
		return coll.Allgather(ctx, k, &c.world.choice, in, out)
	})
}

// Allgatherv collects in of all processes everywhere: that of rank r in pieces[r], which has its
// length (MPI_Allgatherv).
func (c *Comm) Allgatherv(ctx context.Context, in []byte, pieces [][]byte) error {
	given.Context(ctx)
	if err := c.checkPieces("Allgatherv", pieces, -1); err != nil {
		return err
	}
	return c.carry(ctx, "Allgatherv", func(ctx context.Context, k *courier) error {
		return coll.Allgatherv(ctx, k, in, pieces)
	})
}

// Alltoall gives rank r the r-th part of in, and has the part of rank r in the r-th of out. All
// parts are equally long; in and out share no memory (MPI_Alltoall).
func (c *Comm) Alltoall(ctx context.Context, in, out []byte) error {
	given.Context(ctx)
	if err := c.checkParts("Alltoall", in, out); err != nil {
		return err
	}
	return c.carry(ctx, "Alltoall", func(ctx context.Context, k *courier) error {
		return coll.Alltoall(ctx, k, &c.world.choice, in, out)
	})
}

// Ialltoall is [Comm.Alltoall] that goes on by itself.
func (c *Comm) Ialltoall(in, out []byte) (Request, error) {
	if err := c.checkParts("Ialltoall", in, out); err != nil {
		return Request{}, err
	}
	return c.begin("Ialltoall", func(ctx context.Context, k *courier) error {
		return coll.Alltoall(ctx, k, &c.world.choice, in, out)
	})
}

// Alltoallv gives rank r the piece in[r], and has that of rank r in out[r], which has its length
// (MPI_Alltoallv).
func (c *Comm) Alltoallv(ctx context.Context, in, out [][]byte) error {
	given.Context(ctx)
	for _, pieces := range [][][]byte{in, out} {
		if err := c.checkPieces("Alltoallv", pieces, -1); err != nil {
			return err
		}
	}
	return c.carry(ctx, "Alltoallv", func(ctx context.Context, k *courier) error {
		return coll.Alltoallv(ctx, k, &c.world.choice, in, out)
	})
}

func (c *Comm) checkRoot(name string, root int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if root < 0 || root >= c.Size() {
		return fmt.Errorf("%s: root %d: want a rank of the communicator, 0 to %d", name, root, c.Size()-1)
	}
	return nil
}

func (c *Comm) checkLength(name, what string, whole, part int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if whole != part*c.Size() {
		return fmt.Errorf("%s: %s has %d bytes: want %d, for %d ranks of %d each", name, what, whole, part*c.Size(), c.Size(), part)
	}
	return nil
}

// checkWhole checks the buffers of a call with a root: the whole, which counts there, and a part.
func (c *Comm) checkWhole(name string, part, whole []byte, root int) error {
	if err := c.checkRoot(name, root); err != nil || root != c.rank {
		return err
	}
	return c.checkLength(name, "the root's buffer", len(whole), len(part))
}

// checkPieces checks that there is one for each rank, at the root or, if root is −1, everywhere.
func (c *Comm) checkPieces(name string, pieces [][]byte, root int) error {
	if err := c.checkRoot(name, max(root, 0)); err != nil {
		return err
	}
	if (root < 0 || root == c.rank) && len(pieces) != c.Size() {
		return fmt.Errorf("%s: %d pieces: want one for each of %d ranks", name, len(pieces), c.Size())
	}
	return nil
}

func (c *Comm) checkParts(name string, in, out []byte) error {
	if err := c.usable(); err != nil {
		return err
	}
	if len(in) != len(out) || len(in)%c.Size() != 0 {
		return fmt.Errorf("%s: in has %d bytes and out %d: want the same number, a multiple of %d ranks", name, len(in), len(out), c.Size())
	}
	return nil
}
