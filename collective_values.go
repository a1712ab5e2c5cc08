package strand

import (
	"context"
	"fmt"
	"reflect"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
)

// The calls below combine values of all processes, element by element. In may be the same memory as out, where there are both: then
// the call works in place.

// Reduce combines the values in of all processes into out at the root, where alone out counts
// (MPI_Reduce).
func Reduce[T any](ctx context.Context, c *Comm, op Op[T], in, out []T, root int) error {
	given.Context(ctx)
	i, o, err := operandsAt(c, "Reduce", op, in, out, root)
	if err != nil {
		return err
	}
	return c.reduce(ctx, reducing("Reduce", op, i).at(root), op.op, i, o)
}

// Without values in it, a function is made once and not for each type.
func (c *Comm) reduce(ctx context.Context, what call, op coll.Op, in, out []byte) error {
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.Reduce(ctx, k, &c.world.choice, op, in, out, what.root)
	})
}

// Ireduce is [Reduce] that goes on by itself.
func Ireduce[T any](c *Comm, op Op[T], in, out []T, root int) (Request, error) {
	i, o, err := operandsAt(c, "Ireduce", op, in, out, root)
	if err != nil {
		return Request{}, err
	}
	return c.begin(reducing("Reduce", op, i).at(root), func(ctx context.Context, k *courier) error {
		return coll.Reduce(ctx, k, &c.world.choice, op.op, i, o, root)
	})
}

// Allreduce combines the values in of all processes into out, everywhere (MPI_Allreduce).
func Allreduce[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Allreduce", op, in, out)
	if err != nil {
		return err
	}
	return c.allreduce(ctx, reducing("Allreduce", op, i), op.op, i, o)
}

func (c *Comm) allreduce(ctx context.Context, what call, op coll.Op, in, out []byte) error {
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.Allreduce(ctx, k, &c.world.choice, op, in, out)
	})
}

// Iallreduce is [Allreduce] that goes on by itself.
func Iallreduce[T any](c *Comm, op Op[T], in, out []T) (Request, error) {
	i, o, err := operands(c, "Iallreduce", op, in, out)
	if err != nil {
		return Request{}, err
	}
	return c.begin(reducing("Allreduce", op, i), func(ctx context.Context, k *courier) error {
		return coll.Allreduce(ctx, k, &c.world.choice, op.op, i, o)
	})
}

// A scanner is coll.Scan or coll.Exscan.
type scanner func(context.Context, coll.Comm, coll.Op, []byte, []byte) error

// Scan combines the values in of rank 0 to this one into out (MPI_Scan).
func Scan[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Scan", op, in, out)
	if err != nil {
		return err
	}
	return c.scan(ctx, reducing("Scan", op, i), coll.Scan, op.op, i, o)
}

// Exscan combines the values in of rank 0 to the one before this into out. At rank 0 out stays as it
// is (MPI_Exscan).
func Exscan[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := operands(c, "Exscan", op, in, out)
	if err != nil {
		return err
	}
	return c.scan(ctx, reducing("Exscan", op, i), coll.Exscan, op.op, i, o)
}

func (c *Comm) scan(ctx context.Context, what call, by scanner, op coll.Op, in, out []byte) error {
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error { return by(ctx, k, op, in, out) })
}

// Iscan is [Scan] that goes on by itself.
func Iscan[T any](c *Comm, op Op[T], in, out []T) (Request, error) {
	return iscan(c, "Iscan", "Scan", coll.Scan, op, in, out)
}

// Iexscan is [Exscan] that goes on by itself.
func Iexscan[T any](c *Comm, op Op[T], in, out []T) (Request, error) {
	return iscan(c, "Iexscan", "Exscan", coll.Exscan, op, in, out)
}

func iscan[T any](c *Comm, name, plain string, by scanner, op Op[T], in, out []T) (Request, error) {
	i, o, err := operands(c, name, op, in, out)
	if err != nil {
		return Request{}, err
	}
	return c.begin(reducing(plain, op, i), func(ctx context.Context, k *courier) error { return by(ctx, k, op.op, i, o) })
}

// ReduceScatter combines the values in of all processes. Rank r gets, in out, the part that has counts[r]
// values; the parts are behind each other in the order of ranks, and the counts the same everywhere
// (MPI_Reduce_scatter).
func ReduceScatter[T any](ctx context.Context, c *Comm, op Op[T], in, out []T, counts []int) error {
	given.Context(ctx)
	i, o, err := parts(c, "ReduceScatter", op, in, out, counts)
	if err != nil {
		return err
	}
	return c.reduceScatter(ctx, reducing("ReduceScatter", op, i), op.op, i, o, lengths{counts: counts, size: sizeOf[T](), differ: true})
}

// IreduceScatter is [ReduceScatter] that goes on by itself. The counts too are the library's until it is complete.
func IreduceScatter[T any](c *Comm, op Op[T], in, out []T, counts []int) (Request, error) {
	i, o, err := parts(c, "IreduceScatter", op, in, out, counts)
	if err != nil {
		return Request{}, err
	}
	return c.ireduceScatter(reducing("ReduceScatter", op, i), op.op, i, o, lengths{counts: counts, size: sizeOf[T](), differ: true})
}

// ReduceScatterBlock is [ReduceScatter] with parts that are equally long (MPI_Reduce_scatter_block).
func ReduceScatterBlock[T any](ctx context.Context, c *Comm, op Op[T], in, out []T) error {
	given.Context(ctx)
	i, o, err := blocks(c, "ReduceScatterBlock", op, in, out)
	if err != nil {
		return err
	}
	return c.reduceScatter(ctx, reducing("ReduceScatterBlock", op, i), op.op, i, o, lengths{size: len(o), differ: true})
}

// IreduceScatterBlock is [ReduceScatterBlock] that goes on by itself.
func IreduceScatterBlock[T any](c *Comm, op Op[T], in, out []T) (Request, error) {
	i, o, err := blocks(c, "IreduceScatterBlock", op, in, out)
	if err != nil {
		return Request{}, err
	}
	return c.ireduceScatter(reducing("ReduceScatterBlock", op, i), op.op, i, o, lengths{size: len(o), differ: true})
}

func (c *Comm) reduceScatter(ctx context.Context, what call, op coll.Op, in, out []byte, each lengths) error {
	what.each = each
	return c.carry(ctx, what, func(ctx context.Context, k *courier) error {
		return coll.ReduceScatter(ctx, k, &c.world.choice, op, in, out, each.of)
	})
}

func (c *Comm) ireduceScatter(what call, op coll.Op, in, out []byte, each lengths) (Request, error) {
	what.each = each
	return c.begin(what, func(ctx context.Context, k *courier) error {
		return coll.ReduceScatter(ctx, k, &c.world.choice, op, in, out, each.of)
	})
}

// reducing is what all ranks give alike in a call with an operation.
func reducing[T any](name string, op Op[T], in []byte) call {
	return call{name: name, op: op.name, keeps: !op.op.Commutative, of: reflect.TypeFor[T](), bytes: len(in)}
}

// at is the call with a root.
func (k call) at(root int) call {
	k.rooted, k.root = true, root
	return k
}

// operands checks what all calls with an operation have in common, and returns the memory of the
// values.
func operands[T any](c *Comm, name string, op Op[T], in, out []T) (i, o []byte, err error) {
	if err := usableOp(c, name, op); err != nil {
		return nil, nil, err
	}
	if len(in) != len(out) {
		return nil, nil, fmt.Errorf("%s: in has %d values and out %d: want the same number", name, len(in), len(out))
	}
	return twoBuffers(in, out)
}

// operandsAt is operands where out counts at the root alone.
func operandsAt[T any](c *Comm, name string, op Op[T], in, out []T, root int) (i, o []byte, err error) {
	if err := c.checkRoot(name, root); err != nil {
		return nil, nil, err
	}
	if root != c.rank {
		out = in
	}
	return operands(c, name, op, in, out)
}

func usableOp[T any](c *Comm, name string, op Op[T]) error {
	if err := c.usable(); err != nil {
		return err
	}
	if op.op.Fold == nil {
		return fmt.Errorf("%s: the operation is the zero Op: want Sum, Max or another one, or NewOp", name)
	}
	return nil
}

// parts checks the operands of a call whose result is divided by counts.
func parts[T any](c *Comm, name string, op Op[T], in, out []T, counts []int) (i, o []byte, err error) {
	if err := usableOp(c, name, op); err != nil {
		return nil, nil, err
	}
	rest := len(in) // of which nothing is taken that is not there: a sum might come round
	for r, n := range counts {
		if n < 0 {
			return nil, nil, fmt.Errorf("%s: rank %d is to have %d values", name, r, n)
		}
		rest = max(rest-n, -1)
	}
	if len(counts) != c.Size() || rest != 0 || counts[c.rank] != len(out) {
		return nil, nil, fmt.Errorf("%s: %d counts for %d values, and out has %d: want one for each of %d ranks, together as many as in, this rank's as many as out",
			name, len(counts), len(in), len(out), c.Size())
	}
	return twoBuffers(in, out)
}

// blocks checks the operands of a call whose result is divided evenly.
func blocks[T any](c *Comm, name string, op Op[T], in, out []T) (i, o []byte, err error) {
	if err := usableOp(c, name, op); err != nil {
		return nil, nil, err
	}
	if int64(len(in)) != int64(len(out))*int64(c.Size()) {
		return nil, nil, fmt.Errorf("%s: in has %d values and out %d: want %d times as many in in", name, len(in), len(out), c.Size())
	}
	return twoBuffers(in, out)
}

func twoBuffers[T any](in, out []T) (i, o []byte, err error) {
	if i, err = Bytes(in); err == nil {
		o, err = Bytes(out)
	}
	return i, o, err
}
