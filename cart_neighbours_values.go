package strand

import (
	"context"
	"reflect"

	"github.com/strandmp/strand/internal/given"
)

// The functions below are the methods of the same names, of values.

// NeighborAllgather is [Cart.NeighborAllgather] of values.
func NeighborAllgather[T any](ctx context.Context, g *Cart, in, out []T) error {
	given.Context(ctx)
	return ofTwo(in, out, func(i, o []byte) error {
		return g.make(ctx, g.neighborAllgather("NeighborAllgather", reflect.TypeFor[T](), i, o))
	})
}

// IneighborAllgather is [Cart.IneighborAllgather] of values.
func IneighborAllgather[T any](g *Cart, in, out []T) (r Request, err error) {
	err = ofTwo(in, out, func(i, o []byte) (err error) {
		r, err = g.start(g.neighborAllgather("IneighborAllgather", reflect.TypeFor[T](), i, o))
		return err
	})
	return r, err
}

// NeighborAlltoall is [Cart.NeighborAlltoall] of values.
func NeighborAlltoall[T any](ctx context.Context, g *Cart, in, out []T) error {
	given.Context(ctx)
	return ofTwo(in, out, func(i, o []byte) error {
		return g.make(ctx, g.neighborAlltoall("NeighborAlltoall", reflect.TypeFor[T](), i, o))
	})
}

// IneighborAlltoall is [Cart.IneighborAlltoall] of values.
func IneighborAlltoall[T any](g *Cart, in, out []T) (r Request, err error) {
	err = ofTwo(in, out, func(i, o []byte) (err error) {
		r, err = g.start(g.neighborAlltoall("IneighborAlltoall", reflect.TypeFor[T](), i, o))
		return err
	})
	return r, err
}

// NeighborAllgatherv is [Cart.NeighborAllgatherv] of values.
func NeighborAllgatherv[T any](ctx context.Context, g *Cart, in []T, pieces [][]T) error {
	given.Context(ctx)
	b, p, err := withPieces(in, pieces)
	if err != nil {
		return err
	}
	return g.make(ctx, g.neighborAllgatherv("NeighborAllgatherv", reflect.TypeFor[T](), b, p))
}

// IneighborAllgatherv is [Cart.IneighborAllgatherv] of values.
func IneighborAllgatherv[T any](g *Cart, in []T, pieces [][]T) (Request, error) {
	b, p, err := withPieces(in, pieces)
	if err != nil {
		return Request{}, err
	}
	return g.start(g.neighborAllgatherv("IneighborAllgatherv", reflect.TypeFor[T](), b, p))
}

// NeighborAlltoallv is [Cart.NeighborAlltoallv] of values.
func NeighborAlltoallv[T any](ctx context.Context, g *Cart, in, out [][]T) error {
	given.Context(ctx)
	i, o, err := bothViewed(in, out)
	if err != nil {
		return err
	}
	return g.make(ctx, g.neighborAlltoallv("NeighborAlltoallv", reflect.TypeFor[T](), i, o))
}

// IneighborAlltoallv is [Cart.IneighborAlltoallv] of values.
func IneighborAlltoallv[T any](g *Cart, in, out [][]T) (Request, error) {
	i, o, err := bothViewed(in, out)
	if err != nil {
		return Request{}, err
	}
	return g.start(g.neighborAlltoallv("IneighborAlltoallv", reflect.TypeFor[T](), i, o))
}

// ofTwo gives the memory of values to a call.
func ofTwo[T any](in, out []T, do func(i, o []byte) error) error {
	i, o, err := twoBuffers(in, out)
	if err != nil {
		return err
	}
	return do(i, o)
}
