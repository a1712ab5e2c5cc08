package calls

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/strandmp/strand"
)

// A kind is a type of values. Those of floating point are small whole numbers and powers of two: what is computed of them
// is exact in any order.
type kind interface {
	name() string
	size() int
	operation(by int) string
	begin(ctx context.Context, comm *strand.Comm, c Call) (strand.Request, func() error, error)
}

// kinds are all of Go's numbers, names for them, structs and arrays.
var kinds = []kind{
	integer[int](), integer[int8](), integer[int16](), integer[int32](), integer[int64](),
	integer[uint](), integer[uint8](), integer[uint16](), integer[uint32](), integer[uint64](), integer[named](),
	floating[float32](), floating[float64](), turning[complex64](), turning[complex128](), placed(), affine(), array(),
}

type named int16

// typed is the kind of a type.
type typed[T comparable] struct {
	value func(draw uint64) T
	ops   []operation[T]
}

// operation is one of the library's, and what it is.
type operation[T any] struct {
	name  string
	op    strand.Op[T]
	model func(a, b T) T
}

func (k *typed[T]) name() string { var zero T; return fmt.Sprintf("%T", zero) }
func (k *typed[T]) size() int    { var zero T; return int(unsafe.Sizeof(zero)) }

func (k *typed[T]) by(by int) operation[T] { return k.ops[by%len(k.ops)] }

func (k *typed[T]) operation(by int) string { return k.by(by).name }

// own are operations of the program's that any type has.
func own[T any]() []operation[T] {
	first, last := func(a, _ T) T { return a }, func(_, b T) T { return b }
	return []operation[T]{{"first", strand.NewOp(first, false), first}, {"last", strand.NewOp(last, false), last}}
}

func numeric[T strand.Real]() []operation[T] {
	return append(own[T](),
		operation[T]{"Sum", strand.Sum[T](), func(a, b T) T { return a + b }},
		operation[T]{"Prod", strand.Prod[T](), func(a, b T) T { return a * b }},
		operation[T]{"Max", strand.Max[T](), func(a, b T) T { return max(a, b) }},
		operation[T]{"Min", strand.Min[T](), func(a, b T) T { return min(a, b) }},
		operation[T]{"a sum in order", strand.NewOp(func(a, b T) T { return a + b }, false), func(a, b T) T { return a + b }})
}

func integer[T strand.Integer]() *typed[T] {
	return &typed[T]{func(draw uint64) T { return T(draw) }, append(numeric[T](),
		operation[T]{"And", strand.And[T](), func(a, b T) T { return a & b }},
		operation[T]{"Or", strand.Or[T](), func(a, b T) T { return a | b }},
		operation[T]{"Xor", strand.Xor[T](), func(a, b T) T { return a ^ b }})}
}

func floating[T float32 | float64]() *typed[T] {
	return &typed[T]{func(draw uint64) T { return []T{-2, -1, 1, 2}[draw%4] }, numeric[T]()}
}

func turning[T complex64 | complex128]() *typed[T] {
	return &typed[T]{func(draw uint64) T { return []T{1, 1i, -1, -1i}[draw%4] }, append(own[T](),
		operation[T]{"Sum", strand.Sum[T](), func(a, b T) T { return a + b }},
		operation[T]{"Prod", strand.Prod[T](), func(a, b T) T { return a * b }})}
}

func placed() *typed[strand.Located[float64]] {
	type located = strand.Located[float64]
	return &typed[located]{func(draw uint64) located { return located{Value: float64(draw % 3), At: int(draw >> 8 % 5)} }, append(own[located](),
		operation[located]{"MaxLoc", strand.MaxLoc[float64](), func(a, b located) located {
			if b.Value > a.Value || b.Value == a.Value && b.At < a.At {
				return b
			}
			return a
		}},
		operation[located]{"MinLoc", strand.MinLoc[float64](), func(a, b located) located {
			if b.Value < a.Value || b.Value == a.Value && b.At < a.At {
				return b
			}
			return a
		}})}
}

// A line is x → Slope·x + Offset modulo 2³². One after the other is a line too, and which comes first matters.
type line struct{ Slope, Offset uint32 }

func affine() *typed[line] {
	after := func(a, b line) line { return line{a.Slope * b.Slope, b.Slope*a.Offset + b.Offset} }
	return &typed[line]{func(draw uint64) line { return line{uint32(draw) | 1, uint32(draw >> 32)} },
		append(own[line](), operation[line]{"one after the other", strand.NewOp(after, false), after})}
}

// Three bytes are as long as no number is.
func array() *typed[[3]byte] {
	plus := func(a, b [3]byte) [3]byte { return [3]byte{a[0] + b[0], a[1] ^ b[1], max(a[2], b[2])} }
	return &typed[[3]byte]{func(draw uint64) [3]byte { return [3]byte{byte(draw), byte(draw >> 8), byte(draw >> 16)} },
		append(own[[3]byte](), operation[[3]byte]{"three operations", strand.NewOp(plus, true), plus})}
}
