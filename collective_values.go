package strand

import (
	"context"
	"fmt"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
)

// The collective calls below take values, as those of generic.go do. In may be the same memory as out, where there are both: then
// the call works in place.

// Bcast is [Comm.Bcast] of values.
func Bcast[T any](ctx context.Context, c *Comm, values []T, root int) error {
	given.Context(ctx)
	b, err := Bytes(values)
	if err != nil {
		return err
	}
	return c.Bcast(ctx, b, root)
}

// Gather is [Comm.Gather] of values.
func Gather[T any](ctx context.Context, c *Comm, in, out []T, root int) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.Gather(ctx, i, o, root)
}

// Scatter is [Comm.Scatter] of values.
func Scatter[T any](ctx context.Context, c *Comm, in, out []T, root int) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.Scatter(ctx, i, o, root)
}

// Allgather is [Comm.Allgather] of values.
func Allgather[T any](ctx context.Context, c *Comm, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.Allgather(ctx, i, o)
}

// Alltoall is [Comm.Alltoall] of values.
func Alltoall[T any](ctx context.Context, c *Comm, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.Alltoall(ctx, i, o)
}

// Reduce combines the values in of all processes into out at the root, where alone out counts
// (MPI_Reduce).
func Reduce[T any](ctx context.Context, c *Comm, op Op[T], in, out []T, root int) error {
	given.Context(ctx)
	if err := c.checkRoot("Reduce", root); err != nil {
		return err
	}
	if root != c.rank {
		out = in
	}
	i, o, err := operands(c, "Reduce", op, in, out)
	if err != nil {
		return err
	}
	return c.reduce(ctx, op.op, i, o, root)
}

func (c *Comm) reduce(ctx context.Context, op coll.Op, in, out []byte, root int) error {
	return c.carry(ctx, "Reduce", func(ctx context.Context, k *courier) error {
		return coll.Reduce(ctx, k, &c.world.choice, op, in, out, root)
	})
}

// Allreduce combines the values in of all processes into out, everywhere (MPI_Allreduce).
func Allreduce[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Allreduce", op, in, out)
	if err != nil {
		return err
	}
	return c.allreduce(ctx, op.op, i, o)
}

func (c *Comm) allreduce(ctx context.Context, op coll.Op, in, out []byte) error {
	return c.carry(ctx, "Allreduce", func(ctx context.Context, k *courier) error {
		return coll.Allreduce(ctx, k, &c.world.choice, op, in, out)
	})
}

// Iallreduce is [Allreduce] that goes on by itself.
func Iallreduce[T any](c *Comm, op Op[T], in, out []T) (Request, error) {
	i, o, err := operands(c, "Iallreduce", op, in, out)
	if err != nil {
		return Request{}, err
	}
	return c.begin("Iallreduce", func(ctx context.Context, k *courier) error {
		return coll.Allreduce(ctx, k, &c.world.choice, op.op, i, o)
	})
}

// Scan combines the values in of rank 0 to this one into out (MPI_Scan).
func Scan[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Scan", op, in, out)
	if err != nil {
		return err
	}
	return c.scan(ctx, "Scan", coll.Scan, op.op, i, o)
}

// Exscan combines the values in of rank 0 to the one before this into out. At rank 0 out stays as it
// is (MPI_Exscan).
func Exscan[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Exscan", op, in, out)
	if err != nil {
		return err
	}
	return c.scan(ctx, "Exscan", coll.Exscan, op.op, i, o)
}

func (c *Comm) scan(ctx context.Context, name string, by func(context.Context, coll.Comm, coll.Op, []byte, []byte) error, op coll.Op, in, out []byte) error {
	return c.carry(ctx, name, func(ctx context.Context, k *courier) error { return by(ctx, k, op, in, out) })
}

// ReduceScatter combines the values in of all processes. Rank r gets, in out, the part that has counts[r]
// values; the parts are behind each other in the order of ranks, and the counts the same everywhere
// (MPI_Reduce_scatter).
func ReduceScatter[T any](ctx context.Context, c *Comm, op Op[T], in, out []T, counts []int) error {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return err
	}
	sum := 0
	for r, n := range counts {
		if n < 0 {
			return fmt.Errorf("ReduceScatter: rank %d is to have %d values", r, n)
		}
		sum += n
	}
	if len(counts) != c.Size() || sum != len(in) || counts[c.rank] != len(out) {
		return fmt.Errorf("ReduceScatter: %d counts for %d values, and out has %d: want one for each of %d ranks, together as many as in, this rank's as many as out",
			len(counts), len(in), len(out), c.Size())
	}
	return reduceScatter(ctx, c, "ReduceScatter", op, in, out, func(rank int) int { return counts[rank] })
}

// ReduceScatterBlock is [ReduceScatter] with parts that are equally long (MPI_Reduce_scatter_block).
func ReduceScatterBlock[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return err
	}
	if len(in) != len(out)*c.Size() {
		return fmt.Errorf("ReduceScatterBlock: in has %d values and out %d: want %d times as many in in", len(in), len(out), c.Size())
	}
	return reduceScatter(ctx, c, "ReduceScatterBlock", op, in, out, func(int) int { return len(out) })
}

func reduceScatter[T any](ctx context.Context, c *Comm, name string, op Op[T], in, out []T, count func(int) int) error {
	if op.op.Fold == nil {
		return errNoOp(name)
	}
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	size := op.op.Size
	return c.carry(ctx, name, func(ctx context.Context, k *courier) error {
		return coll.ReduceScatter(ctx, k, &c.world.choice, op.op, i, o, func(r int) int { return size * count(r) })
	})
}

// operands checks what all calls with an operation have in common, and returns the memory of the
// values.
func operands[T any](c *Comm, name string, op Op[T], in, out []T) (i, o []byte, err error) {
	if err := c.usable(); err != nil {
		return nil, nil, err
	}
	if op.op.Fold == nil {
		return nil, nil, errNoOp(name)
	}
	if len(in) != len(out) {
		return nil, nil, fmt.Errorf("%s: in has %d values and out %d: want the same number", name, len(in), len(out))
	}
	return twoBuffers(in, out)
}

func errNoOp(name string) error {
	return fmt.Errorf("%s: the operation is the zero Op: want Sum, Max or another one, or NewOp", name)
}

func twoBuffers[T any](in, out []T) (i, o []byte, err error) {
	if i, err = Bytes(in); err == nil {
		o, err = Bytes(out)
	}
	return i, o, err
}
