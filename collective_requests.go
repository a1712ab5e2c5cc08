package strand

import (
	"context"
	"reflect"

	"github.com/strandmp/strand/coll"
)

// The calls below go on by themselves: they return at once, and the request is complete when this process has done
// its part. Several may be under way at a time; all processes begin them in the same order. A call that goes on by itself and a
// blocking one do not fit (MPI 4.1, section 6.12): all processes make the same.

// Ibarrier is [Comm.Barrier] that goes on by itself: the request is complete when all have called
// it.
func (c *Comm) Ibarrier() (Request, error) {
	return c.begin(call{name: "Barrier"}, func(ctx context.Context, k *courier) error { return coll.Barrier(ctx, k, &c.world.choice) })
}

// Ibcast is [Comm.Bcast] that goes on by itself.
func (c *Comm) Ibcast(buf []byte, root int) (Request, error) { return c.ibcast(nil, buf, root) }

func (c *Comm) ibcast(of reflect.Type, buf []byte, root int) (Request, error) {
	if err := c.checkRoot("Ibcast", root); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Bcast", of: of, rooted: true, root: root, bytes: len(buf)}, func(ctx context.Context, k *courier) error {
		return coll.Bcast(ctx, k, &c.world.choice, buf, root)
	})
}

// Igather is [Comm.Gather] that goes on by itself.
func (c *Comm) Igather(in, out []byte, root int) (Request, error) {
	return c.igather(nil, in, out, root)
}

func (c *Comm) igather(of reflect.Type, in, out []byte, root int) (Request, error) {
	if err := c.checkWhole("Igather", of, in, out, root); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Gather", of: of, rooted: true, root: root, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Gather(ctx, k, &c.world.choice, in, out, root)
	})
}

// Igatherv is [Comm.Gatherv] that goes on by itself.
func (c *Comm) Igatherv(in []byte, pieces [][]byte, root int) (Request, error) {
	return c.igatherv(nil, in, pieces, root)
}

func (c *Comm) igatherv(of reflect.Type, in []byte, pieces [][]byte, root int) (Request, error) {
	if err := c.checkPieces("Igatherv", pieces, root); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Gatherv", of: of, rooted: true, root: root, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Gatherv(ctx, k, in, pieces, root)
	})
}

// Iscatter is [Comm.Scatter] that goes on by itself.
func (c *Comm) Iscatter(in, out []byte, root int) (Request, error) {
	return c.iscatter(nil, in, out, root)
}

func (c *Comm) iscatter(of reflect.Type, in, out []byte, root int) (Request, error) {
	if err := c.checkWhole("Iscatter", of, out, in, root); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Scatter", of: of, rooted: true, root: root, bytes: len(out)}, func(ctx context.Context, k *courier) error {
		return coll.Scatter(ctx, k, &c.world.choice, in, out, root)
	})
}

// Iscatterv is [Comm.Scatterv] that goes on by itself.
func (c *Comm) Iscatterv(pieces [][]byte, out []byte, root int) (Request, error) {
	return c.iscatterv(nil, pieces, out, root)
}

func (c *Comm) iscatterv(of reflect.Type, pieces [][]byte, out []byte, root int) (Request, error) {
	if err := c.checkPieces("Iscatterv", pieces, root); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Scatterv", of: of, rooted: true, root: root, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Scatterv(ctx, k, pieces, out, root)
	})
}

// Iallgather is [Comm.Allgather] that goes on by itself.
func (c *Comm) Iallgather(in, out []byte) (Request, error) { return c.iallgather(nil, in, out) }

func (c *Comm) iallgather(of reflect.Type, in, out []byte) (Request, error) {
	if err := c.checkLength("Iallgather", "out", of, len(out), len(in)); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Allgather", of: of, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Allgather(ctx, k, &c.world.choice, in, out)
	})
}

// Iallgatherv is [Comm.Allgatherv] that goes on by itself.
func (c *Comm) Iallgatherv(in []byte, pieces [][]byte) (Request, error) {
	return c.iallgatherv(nil, in, pieces)
}

func (c *Comm) iallgatherv(of reflect.Type, in []byte, pieces [][]byte) (Request, error) {
	if err := c.checkOwnPiece("Iallgatherv", of, in, pieces); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Allgatherv", of: of, uneven: true, each: lengths{pieces: pieces, differ: true}}, func(ctx context.Context, k *courier) error {
		return coll.Allgatherv(ctx, k, in, pieces)
	})
}

// Ialltoall is [Comm.Alltoall] that goes on by itself.
func (c *Comm) Ialltoall(in, out []byte) (Request, error) { return c.ialltoall(nil, in, out) }

func (c *Comm) ialltoall(of reflect.Type, in, out []byte) (Request, error) {
	if err := c.checkParts("Ialltoall", of, in, out); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Alltoall", of: of, bytes: len(in)}, func(ctx context.Context, k *courier) error {
		return coll.Alltoall(ctx, k, &c.world.choice, in, out)
	})
}

// Ialltoallv is [Comm.Alltoallv] that goes on by itself.
func (c *Comm) Ialltoallv(in, out [][]byte) (Request, error) { return c.ialltoallv(nil, in, out) }

func (c *Comm) ialltoallv(of reflect.Type, in, out [][]byte) (Request, error) {
	if err := c.checkBothPieces("Ialltoallv", of, in, out); err != nil {
		return Request{}, err
	}
	return c.begin(call{name: "Alltoallv", of: of, uneven: true}, func(ctx context.Context, k *courier) error {
		return coll.Alltoallv(ctx, k, &c.world.choice, in, out)
	})
}
