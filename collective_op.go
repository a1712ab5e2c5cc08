package strand

import (
	"cmp"
	"reflect"
	"runtime"
	"unsafe"

	"github.com/strandmp/strand/coll"
)

// An Op combines values of all processes, element by element: [Sum], [Max] and the like, or one of
// the program's own. It is made once and may be used by any number of calls.
type Op[T any] struct {
	op   coll.Op
	name string // by which ranks compare what they call
}

// A Number can be added and multiplied.
type Number interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64 | ~complex64 | ~complex128
}

// An Integer has bits.
type Integer interface {
	~int | ~int8 | ~int16 | ~int32 | ~int64 | ~uint | ~uint8 | ~uint16 | ~uint32 | ~uint64
}

// A Real is a number that can be compared.
type Real interface {
	Integer | ~float32 | ~float64
}

// NewOp makes an operation of a function, which has to be associative. Where it is not commutative
// values are combined in the order of ranks, and always in the same way: the results of two runs with
// the same values are the same, bit by bit, if they have the same number of ranks. For sums of floating point that may be
// worth its time (MPI 4.1, section 6.9.5).
//
// A nil function makes the zero Op, which no call takes.
func NewOp[T any](combine func(a, b T) T, commutative bool) Op[T] {
	if combine == nil {
		return Op[T]{}
	}
	name := runtime.FuncForPC(reflect.ValueOf(combine).Pointer()).Name()
	return folding(name, func(acc, in []T, before bool) {
		for i, v := range in {
			if before {
				acc[i] = combine(v, acc[i])
			} else {
				acc[i] = combine(acc[i], v)
			}
		}
	}, commutative)
}

// folding makes an operation of a function over slices.
func folding[T any](name string, fold func(acc, in []T, before bool), commutative bool) Op[T] {
	var zero T
	size := int(unsafe.Sizeof(zero))
	return Op[T]{name: name, op: coll.Op{Size: max(size, 1), Commutative: commutative, Fold: func(acc, in []byte, before bool) {
		n := len(acc) / max(size, 1)
		if n == 0 {
			return // what no value is in need not lie where a T may
		}
		fold(unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(acc))), n), unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(in))), n), before)
	}}}
}

// Sum adds.
func Sum[T Number]() Op[T] {
	return folding("Sum", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] += in[i]
		}
	}, true)
}

// Prod multiplies.
func Prod[T Number]() Op[T] {
	return folding("Prod", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] *= in[i]
		}
	}, true)
}

// Max takes the greatest. As with Go's own max, a value that is no number (NaN) is the result, whichever process has it.
func Max[T Real]() Op[T] {
	return folding("Max", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] = max(acc[i], in[i])
		}
	}, true)
}

// Min takes the least. As with Go's own min, a value that is no number (NaN) is the result, whichever process has it.
func Min[T Real]() Op[T] {
	return folding("Min", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] = min(acc[i], in[i])
		}
	}, true)
}

// And, Or and Xor combine bits.
func And[T Integer]() Op[T] {
	return folding("And", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] &= in[i]
		}
	}, true)
}

// Or combines bits: those that any process has.
func Or[T Integer]() Op[T] {
	return folding("Or", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] |= in[i]
		}
	}, true)
}

// Xor combines bits: those that an odd number of processes have.
func Xor[T Integer]() Op[T] {
	return folding("Xor", func(acc, in []T, _ bool) {
		for i := range in {
			acc[i] ^= in[i]
		}
	}, true)
}

// A Located value is one and where it is: what MPI_MINLOC and MPI_MAXLOC are about.
type Located[T Real] struct {
	Value T
	At    int
}

// MaxLoc takes the greatest value; of equal ones the one with the lowest At. A value that is no number (NaN) is the result, as in
// [Max]; of several such the one with the lowest At.
func MaxLoc[T Real]() Op[Located[T]] {
	return NewOp(func(a, b Located[T]) Located[T] { return located(a, b, cmp.Compare(a.Value, b.Value)) }, true)
}

// MinLoc takes the least value; of equal ones the one with the lowest At. A value that is no number (NaN) is the result, as in
// [Min]; of several such the one with the lowest At.
func MinLoc[T Real]() Op[Located[T]] {
	return NewOp(func(a, b Located[T]) Located[T] { return located(a, b, cmp.Compare(b.Value, a.Value)) }, true)
}

// located returns a if it is ahead of b, in an order of values that has no place for what is no number.
func located[T Real](a, b Located[T], order int) Located[T] {
	if first, second := a.Value != a.Value, b.Value != b.Value; first != second {
		if first {
			return a
		}
		return b
	}
	if order > 0 || order == 0 && a.At <= b.At {
		return a
	}
	return b
}
