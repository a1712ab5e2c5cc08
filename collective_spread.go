package strand

import (
	"context"
	"reflect"
	"sync"

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
	return c.bcast(ctx, reflect.TypeFor[T](), b, root)
}

// Ibcast is [Comm.Ibcast] of values.
func Ibcast[T any](c *Comm, values []T, root int) (Request, error) {
	b, err := Bytes(values)
	if err != nil {
		return Request{}, err
	}
	return c.ibcast(reflect.TypeFor[T](), b, root)
}

// Gather is [Comm.Gather] of values.
func Gather[T any](ctx context.Context, c *Comm, in, out []T, root int) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.gather(ctx, reflect.TypeFor[T](), i, o, root)
}

// Igather is [Comm.Igather] of values.
func Igather[T any](c *Comm, in, out []T, root int) (Request, error) {
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return Request{}, err
	}
	return c.igather(reflect.TypeFor[T](), i, o, root)
}

// Scatter is [Comm.Scatter] of values.
func Scatter[T any](ctx context.Context, c *Comm, in, out []T, root int) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.scatter(ctx, reflect.TypeFor[T](), i, o, root)
}

// Iscatter is [Comm.Iscatter] of values.
func Iscatter[T any](c *Comm, in, out []T, root int) (Request, error) {
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return Request{}, err
	}
	return c.iscatter(reflect.TypeFor[T](), i, o, root)
}

// Allgather is [Comm.Allgather] of values.
func Allgather[T any](ctx context.Context, c *Comm, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.allgather(ctx, reflect.TypeFor[T](), i, o)
}

// Iallgather is [Comm.Iallgather] of values.
func Iallgather[T any](c *Comm, in, out []T) (Request, error) {
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return Request{}, err
	}
	return c.iallgather(reflect.TypeFor[T](), i, o)
}

// Alltoall is [Comm.Alltoall] of values.
func Alltoall[T any](ctx context.Context, c *Comm, in, out []T) error {
	given.Context(ctx)
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return c.alltoall(ctx, reflect.TypeFor[T](), i, o)
}

// Ialltoall is [Comm.Ialltoall] of values.
func Ialltoall[T any](c *Comm, in, out []T) (Request, error) {
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return Request{}, err
	}
	return c.ialltoall(reflect.TypeFor[T](), i, o)
}

// The calls below have a piece for each rank. Those that go on by themselves allocate the list of the pieces' memory.

func viewed[T any](pieces [][]T) ([][]byte, error) {
	return viewedIn(make([][]byte, 0, len(pieces)), pieces)
}

func viewedIn[T any](list [][]byte, pieces [][]T) ([][]byte, error) {
	if err := plain[T](); err != nil {
		return nil, err
	}
	for _, piece := range pieces {
		b, _ := Bytes(piece) // the type is one that can be sent
		list = append(list, b)
	}
	return list, nil
}

// A viewing has the lists of a blocking call.
type viewing struct{ in, out [][]byte }

var viewings = sync.Pool{New: func() any { return new(viewing) }}

// end gives the lists back, and keeps nobody's memory.
func (v *viewing) end() {
	clear(v.in)
	clear(v.out)
	v.in, v.out = v.in[:0], v.out[:0]
	viewings.Put(v)
}

func withPieces[T any](buf []T, pieces [][]T) (b []byte, p [][]byte, err error) {
	if b, err = Bytes(buf); err == nil {
		p, err = viewed(pieces)
	}
	return b, p, err
}

func bothViewed[T any](in, out [][]T) (i, o [][]byte, err error) {
	if i, err = viewed(in); err == nil {
		o, err = viewed(out)
	}
	return i, o, err
}

// Gatherv is [Comm.Gatherv] of values.
func Gatherv[T any](ctx context.Context, c *Comm, in []T, pieces [][]T, root int) error {
	given.Context(ctx)
	b, err := Bytes(in)
	if err != nil {
		return err
	}
	v := viewings.Get().(*viewing)
	defer v.end()
	if v.in, err = viewedIn(v.in, pieces); err != nil {
		return err
	}
	return c.gatherv(ctx, reflect.TypeFor[T](), b, v.in, root)
}

// Igatherv is [Comm.Igatherv] of values.
func Igatherv[T any](c *Comm, in []T, pieces [][]T, root int) (Request, error) {
	b, p, err := withPieces(in, pieces)
	if err != nil {
		return Request{}, err
	}
	return c.igatherv(reflect.TypeFor[T](), b, p, root)
}

// Scatterv is [Comm.Scatterv] of values.
func Scatterv[T any](ctx context.Context, c *Comm, pieces [][]T, out []T, root int) error {
	given.Context(ctx)
	b, err := Bytes(out)
	if err != nil {
		return err
	}
	v := viewings.Get().(*viewing)
	defer v.end()
	if v.in, err = viewedIn(v.in, pieces); err != nil {
		return err
	}
	return c.scatterv(ctx, reflect.TypeFor[T](), v.in, b, root)
}

// Iscatterv is [Comm.Iscatterv] of values.
func Iscatterv[T any](c *Comm, pieces [][]T, out []T, root int) (Request, error) {
	b, p, err := withPieces(out, pieces)
	if err != nil {
		return Request{}, err
	}
	return c.iscatterv(reflect.TypeFor[T](), p, b, root)
}

// Allgatherv is [Comm.Allgatherv] of values.
func Allgatherv[T any](ctx context.Context, c *Comm, in []T, pieces [][]T) error {
	given.Context(ctx)
	b, err := Bytes(in)
	if err != nil {
		return err
	}
	v := viewings.Get().(*viewing)
	defer v.end()
	if v.in, err = viewedIn(v.in, pieces); err != nil {
		return err
	}
	return c.allgatherv(ctx, reflect.TypeFor[T](), b, v.in)
}

// Iallgatherv is [Comm.Iallgatherv] of values.
func Iallgatherv[T any](c *Comm, in []T, pieces [][]T) (Request, error) {
	b, p, err := withPieces(in, pieces)
	if err != nil {
		return Request{}, err
	}
	return c.iallgatherv(reflect.TypeFor[T](), b, p)
}

// Alltoallv is [Comm.Alltoallv] of values.
func Alltoallv[T any](ctx context.Context, c *Comm, in, out [][]T) (err error) {
	given.Context(ctx)
	v := viewings.Get().(*viewing)
	defer v.end()
	if v.in, err = viewedIn(v.in, in); err != nil {
		return err
	}
	if v.out, err = viewedIn(v.out, out); err != nil {
		return err
	}
	return c.alltoallv(ctx, reflect.TypeFor[T](), v.in, v.out)
}

// Ialltoallv is [Comm.Ialltoallv] of values.
func Ialltoallv[T any](c *Comm, in, out [][]T) (Request, error) {
	i, o, err := bothViewed(in, out)
	if err != nil {
		return Request{}, err
	}
	return c.ialltoallv(reflect.TypeFor[T](), i, o)
}
