package strand

import (
	"context"
	"fmt"
	"reflect"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
)

// The calls below are collective: all processes of the communicator make them, in the same order,
// with the same root and with lengths that fit. Those whose names begin with I return at once; the
// request is complete when this process has done its part, and its buffers are the library's until
// then. After an error buffers hold anything; if it is [ErrUnderway] too, what was to be sent stays the library's. Lengths that do
// not fit are an error where a message tells, which is on the receiving rank; with coll_check they are
// found always, and so are other roots, operations, types and calls.
//
// Package coll has the algorithms; the parameters coll_bcast and the like name one.

// Bcast copies the root's buf to all others (MPI_Bcast).
func (c *Comm) Bcast(ctx context.Context, buf []byte, root int) error {
	return c.bcast(ctx, nil, buf, root)
}

func (c *Comm) bcast(ctx context.Context, of reflect.Type, buf []byte, root int) error {
	given.Context(ctx)
	if err := c.checkRoot("Bcast", root); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Bcast", of: of, rooted: true, root: root, bytes: len(buf)}, func(ctx context.Context, k *courier) error {
		return coll.Bcast(ctx, k, &c.world.choice, buf, root)
	})
}

// Gather collects in of all processes at the root, in the order of ranks. Out counts at the root
// alone, where it is Size times as long (MPI_Gather). In may be the root's place in out.
func (c *Comm) Gather(ctx context.Context, in, out []byte, root int) error {
	return c.gather(ctx, nil, in, out, root)
}

func (c *Comm) gather(ctx context.Context, of reflect.Type, in, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkWhole("Gather", of, in, out, root); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Gather", of: of, rooted: true, root: root, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Gather(ctx, k, &c.world.choice, in, out, root)
	})
}

// Gatherv collects in of all processes at the root: that of rank r in pieces[r], which has its
// length. Pieces count at the root alone (MPI_Gatherv).
func (c *Comm) Gatherv(ctx context.Context, in []byte, pieces [][]byte, root int) error {
	return c.gatherv(ctx, nil, in, pieces, root)
}

func (c *Comm) gatherv(ctx context.Context, of reflect.Type, in []byte, pieces [][]byte, root int) error {
	given.Context(ctx)
	if err := c.checkPieces("Gatherv", pieces, root); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Gatherv", of: of, rooted: true, root: root, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Gatherv(ctx, k, in, pieces, root)
	})
}

// Scatter gives each process its part of the root's in, which counts there alone and is Size times as
// long as out (MPI_Scatter). Out may be the root's place in in.
func (c *Comm) Scatter(ctx context.Context, in, out []byte, root int) error {
	return c.scatter(ctx, nil, in, out, root)
}

func (c *Comm) scatter(ctx context.Context, of reflect.Type, in, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkWhole("Scatter", of, out, in, root); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Scatter", of: of, rooted: true, root: root, bytes: len(out)}, func(ctx context.Context, k *courier) error {
		return coll.Scatter(ctx, k, &c.world.choice, in, out, root)
	})
}

// Scatterv gives each process its piece of the root's (MPI_Scatterv).
func (c *Comm) Scatterv(ctx context.Context, pieces [][]byte, out []byte, root int) error {
	return c.scatterv(ctx, nil, pieces, out, root)
}

func (c *Comm) scatterv(ctx context.Context, of reflect.Type, pieces [][]byte, out []byte, root int) error {
	given.Context(ctx)
	if err := c.checkPieces("Scatterv", pieces, root); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Scatterv", of: of, rooted: true, root: root, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Scatterv(ctx, k, pieces, out, root)
	})
}

// Allgather collects in of all processes in out, everywhere, in the order of ranks. Out is Size
// times as long (MPI_Allgather). In may be this rank's place in out.
func (c *Comm) Allgather(ctx context.Context, in, out []byte) error {
	return c.allgather(ctx, nil, in, out)
}

func (c *Comm) allgather(ctx context.Context, of reflect.Type, in, out []byte) error {
	given.Context(ctx)
	if err := c.checkLength("Allgather", "out", of, len(out), len(in)); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Allgather", of: of, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Allgather(ctx, k, &c.world.choice, in, out)
	})
}

// Allgatherv collects in of all processes everywhere: that of rank r in pieces[r], which has its
// length (MPI_Allgatherv).
func (c *Comm) Allgatherv(ctx context.Context, in []byte, pieces [][]byte) error {
	return c.allgatherv(ctx, nil, in, pieces)
}

func (c *Comm) allgatherv(ctx context.Context, of reflect.Type, in []byte, pieces [][]byte) error {
	given.Context(ctx)
	if err := c.checkOwnPiece("Allgatherv", of, in, pieces); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Allgatherv", of: of, uneven: true, each: lengths{pieces: pieces, differ: true}}, func(ctx context.Context, k *courier) error {
		return coll.Allgatherv(ctx, k, in, pieces)
	})
}

// Alltoall gives rank r the r-th part of in, and has the part of rank r in the r-th of out. All
// parts are equally long; in and out are the same memory or share none (MPI_Alltoall).
func (c *Comm) Alltoall(ctx context.Context, in, out []byte) error {
	return c.alltoall(ctx, nil, in, out)
}

func (c *Comm) alltoall(ctx context.Context, of reflect.Type, in, out []byte) error {
	given.Context(ctx)
	if err := c.checkParts("Alltoall", of, in, out); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Alltoall", of: of, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Alltoall(ctx, k, &c.world.choice, in, out)
	})
}

// Alltoallv gives rank r the piece in[r], and has that of rank r in out[r], which has its length; in[r]
// and out[r] are the same memory or share none (MPI_Alltoallv).
func (c *Comm) Alltoallv(ctx context.Context, in, out [][]byte) error {
	return c.alltoallv(ctx, nil, in, out)
}

func (c *Comm) alltoallv(ctx context.Context, of reflect.Type, in, out [][]byte) error {
	given.Context(ctx)
	if err := c.checkBothPieces("Alltoallv", of, in, out); err != nil {
		return err
	}
	return c.carry(ctx, call{name: "Alltoallv", of: of, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Alltoallv(ctx, k, &c.world.choice, in, out)
	})
}

func (c *Comm) checkRoot(name string, root int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if root < 0 || root >= c.Size() {
		return fmt.Errorf("%s: %w: root %d is not in 0 to %d", name, ErrRank, root, c.Size()-1)
	}
	return nil
}

func (c *Comm) checkLength(name, what string, of reflect.Type, whole, part int) error {
	if err := c.usable(); err != nil {
		return err
	}
	if want := int64(part) * int64(c.Size()); int64(whole) != want {
		each := unit(of)
		return fmt.Errorf("%s: %s has %d %s: want %d, for %d ranks of %d each", name, what, whole/each, units(of), want/int64(each), c.Size(), part/each)
	}
	return nil
}

// checkWhole checks the buffers of a call with a root: the whole, which counts there, and a part.
func (c *Comm) checkWhole(name string, of reflect.Type, part, whole []byte, root int) error {
	if err := c.checkRoot(name, root); err != nil || root != c.rank {
		return err
	}
	return c.checkLength(name, "the root's buffer", of, len(whole), len(part))
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

// checkParts checks buffers that have a part for each rank.
func (c *Comm) checkParts(name string, of reflect.Type, in, out []byte) error {
	if err := c.usable(); err != nil {
		return err
	}
	if len(in) != len(out) || !divides(c.Size(), in, of) {
		return fmt.Errorf("%s: in has %d %s and out %d: want the same number, and for each of %d ranks as many", name, len(in)/unit(of), units(of), len(out)/unit(of), c.Size())
	}
	return nil
}

// divides says whether n parts of a buffer have whole values, as many each.
func divides(n int, buf []byte, of reflect.Type) bool {
	return len(buf)/unit(of)%n == 0
}

// unit is how many bytes of a buffer count as one: those of a value, if it is of values that have any.
func unit(of reflect.Type) int {
	if of == nil || of.Size() == 0 {
		return 1
	}
	return int(of.Size())
}

// units names that.
func units(of reflect.Type) string {
	if of == nil {
		return "bytes"
	}
	return fmt.Sprintf("values of %d bytes", of.Size())
}

// checkOwnPiece checks the pieces of a call that has this rank's own among them.
func (c *Comm) checkOwnPiece(name string, of reflect.Type, in []byte, pieces [][]byte) error {
	if err := c.checkPieces(name, pieces, -1); err != nil {
		return err
	}
	if len(pieces[c.rank]) != len(in) {
		return fmt.Errorf("%s: in has %d %s, and the piece of this rank, %d, has %d: want the same number", name, len(in)/unit(of), units(of), c.rank, len(pieces[c.rank])/unit(of))
	}
	return nil
}

func (c *Comm) checkBothPieces(name string, of reflect.Type, in, out [][]byte) error {
	if err := c.checkPieces(name, in, -1); err != nil {
		return err
	}
	return c.checkOwnPiece(name, of, in[c.rank], out)
}
