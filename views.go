package strand

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/strandmp/strand/internal/layout"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml"
)

// A Layout says which values of a slice a message consists of, and in which order: what MPI's derived types say (MPI 4.1,
// chapter 5), checked by the compiler for slices of T. It is made once, by [Vector], [Indexed], [Subarray], [Fields] and the
// like, and used for any slice:
//
//	column := strand.Vector[float64](rows, 1, columns)
//	err := c.SendView(ctx, column.Of(matrix[3:]), dst, tag)
//
// All places and distances are counted in values of T from the slice's first one, and all are said: a layout has no
// extent of its own. A regular one takes a few words, however many blocks it has.
//
// T holds no pointers, as for all typed calls. An exception is [Fields], whose named fields hold none. A layout that can not be, or
// that an int can not hold, has an error ([Layout.Err]), which each layout made of it has, and each call that is given a
// view of it. The zero Layout picks nothing. Layouts are small values that do not change; goroutines may share them.
type Layout[T any] struct {
	of    *layout.Layout        // nil: nothing
	needs representation.Traits // what the values that it picks depend on
	err   error
}

// A Block is so many values that follow each other, the first of which is the slice's value At.
type Block struct{ At, Len int }

// Contiguous picks the first n values (MPI_Type_contiguous).
func Contiguous[T any](n int) Layout[T] {
	return Indexed[T](Block{0, n}).named("Contiguous(%d)", n)
}

// Vector picks count blocks of so many values. Each begins stride values behind the one before (MPI_Type_vector). A stride may be
// negative: [Layout.At] moves the layout to where it has room then.
func Vector[T any](count, block, stride int) Layout[T] {
	return Contiguous[T](block).Repeat(count, stride).named("Vector(%d, %d, %d)", count, block, stride)
}

// Indexed picks the blocks, one after the other (MPI_Type_indexed). Their order is the message's.
func Indexed[T any](blocks ...Block) Layout[T] {
	if err := plain[T](); err != nil {
		return Layout[T]{err: err}
	}
	each := sizeOf[T]()
	runs := make([]layout.Block, len(blocks))
	for i, b := range blocks {
		at, fits := scaled(b.At, each)
		size, ok := scaled(b.Len, each)
		switch {
		case b.Len < 0:
			return Layout[T]{err: fmt.Errorf("block %d of %d has %d values: want 0 or more", i, len(blocks), b.Len)}
		case !fits || !ok:
			return Layout[T]{err: fmt.Errorf("block %d of %d: %d values of %d bytes from value %d on: more than an int holds", i, len(blocks), b.Len, each, b.At)}
		}
		runs[i] = layout.Block{At: at, Size: size}
	}
	return made[T](judge(reflect.TypeFor[T]()).needs)(layout.List(runs))
}

// IndexedBlocks picks a block of so many values at each of the places (MPI_Type_create_indexed_block).
func IndexedBlocks[T any](block int, at ...int) Layout[T] {
	blocks := make([]Block, len(at))
	for i, a := range at {
		blocks[i] = Block{a, block}
	}
	return Indexed[T](blocks...)
}

// Subarray picks a part of an array of any number of dimensions, whose last index is the one that counts values that follow each
// other: sizes are the array's, part those of the part, which begins at start (MPI_Type_create_subarray, with MPI_ORDER_C). For
// arrays in the order of Fortran all three are given backwards.
func Subarray[T any](sizes, part, start []int) Layout[T] {
	if len(sizes) != len(part) || len(sizes) != len(start) {
		return Layout[T]{err: fmt.Errorf("Subarray: %d sizes, %d of the part, %d starts: want one of each for each dimension", len(sizes), len(part), len(start))}
	}
	l, each, first := Contiguous[T](1), 1, 0
	for d := len(sizes) - 1; d >= 0; d-- {
		if start[d] < 0 || part[d] < 0 || sizes[d] < 0 || start[d] > sizes[d] || part[d] > sizes[d]-start[d] {
			return Layout[T]{err: fmt.Errorf("Subarray: %d from %d on in dimension %d, which has %d: want a part of that", part[d], start[d], d, sizes[d])}
		}
		l = l.Repeat(part[d], each)
		step, fits := scaled(each, start[d])
		whole, ok := scaled(each, sizes[d])
		if !fits || !ok || first+step < first {
			return Layout[T]{err: fmt.Errorf("Subarray: an array of %v values: more than an int holds", sizes)}
		}
		first, each = first+step, whole
	}
	return l.At(first)
}

// Fields picks the named fields of so many structs that follow each other, in the order of the names: all those of the first struct, then of
// the second (MPI_Type_create_struct). A name may lead on, as in "Position.X". T may have fields with pointers beside those;
// they are neither read nor written.
func Fields[T any](count int, names ...string) Layout[T] {
	of := reflect.TypeFor[T]()
	if count < 0 {
		return Layout[T]{err: fmt.Errorf("Fields of %d values of type %v: want 0 or more", count, of)}
	}
	blocks := make([]layout.Block, len(names))
	var needs representation.Traits
	for i, name := range names {
		at, field, err := fieldOf(of, name)
		if err != nil {
			return Layout[T]{err: err}
		}
		blocks[i] = layout.Block{At: at, Size: int(field.Size())}
		needs |= judge(field).needs // where in the struct a field lies is no part of the message
	}
	return made[T](needs)(layout.List(blocks)).Repeat(count, 1)
}

// fieldOf finds a field of a struct, and where in the struct it lies.
func fieldOf(t reflect.Type, name string) (at int, field reflect.Type, err error) {
	field = t
	for part := range strings.SplitSeq(name, ".") {
		if field.Kind() != reflect.Struct {
			return 0, nil, fmt.Errorf("field %q of type %v: %v is no struct", name, t, field)
		}
		found := false
		for i := range field.NumField() {
			if f := field.Field(i); f.Name == part {
				at, field, found = at+int(f.Offset), f.Type, true
				break
			}
		}
		if !found {
			return 0, nil, fmt.Errorf("field %q of type %v: %v has no field %q; its fields are %s", name, t, field, part, fieldsOf(field))
		}
	}
	if where := pointerIn(field); where != "" {
		return 0, nil, fmt.Errorf("field %q of type %v can not be sent: %s refers to memory of this process", name, t, where)
	}
	return at, field, nil
}

func fieldsOf(t reflect.Type) string {
	names := make([]string, t.NumField())
	for i := range names {
		names[i] = t.Field(i).Name
	}
	return strings.Join(names, ", ")
}

// Join picks what each of the layouts does, one after the other.
func Join[T any](layouts ...Layout[T]) Layout[T] {
	parts := make([]*layout.Layout, 0, len(layouts))
	var needs representation.Traits
	for i, l := range layouts {
		if l.err != nil {
			return Layout[T]{err: fmt.Errorf("layout %d of %d: %w", i, len(layouts), l.err)}
		}
		if l.of != nil {
			parts = append(parts, l.of)
			needs |= l.needs
		}
	}
	return made[T](needs)(layout.Join(parts))
}

// Repeat picks what l does count times, each time stride values further on. The distance may be shorter than l reaches, as for
// the columns of a matrix, or negative (MPI_Type_create_hvector).
func (l Layout[T]) Repeat(count, stride int) Layout[T] {
	switch bytes, fits := scaled(stride, sizeOf[T]()); {
	case l.err != nil:
		return l
	case count < 0:
		return Layout[T]{err: fmt.Errorf("a layout %d times: want 0 or more", count)}
	case !fits:
		return Layout[T]{err: fmt.Errorf("a layout every %d values: more than an int holds", stride)}
	case l.of == nil:
		return l
	default:
		return made[T](l.needs)(layout.Repeat(l.of, count, bytes))
	}
}

// At picks what l does, n values further on. [Layout.Of] of a slice's rest does the same for one message.
func (l Layout[T]) At(n int) Layout[T] {
	switch bytes, fits := scaled(n, sizeOf[T]()); {
	case l.err != nil || l.of == nil:
		return l
	case !fits:
		return Layout[T]{err: fmt.Errorf("a layout moved by %d values: more than an int holds", n)}
	default:
		return made[T](l.needs)(layout.At(l.of, bytes))
	}
}

// Size is how many bytes the message has (MPI_Type_size).
func (l Layout[T]) Size() int {
	if l.of == nil {
		return 0
	}
	return l.of.Size()
}

// Reach is how long a slice has to be at least.
func (l Layout[T]) Reach() int {
	if l.of == nil {
		return 0
	}
	_, high := l.of.Bounds()
	each := max(sizeOf[T](), 1)
	return (max(high, 0) + each - 1) / each
}

// Err is why there can be no such layout, or nil.
func (l Layout[T]) Err() error { return l.err }

// Of is what the layout picks of the values. It allocates nothing.
func (l Layout[T]) Of(values []T) View {
	if l.err != nil || l.of == nil {
		return View{err: l.err}
	}
	each := sizeOf[T]()
	memory := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*each)
	low, high := l.of.Bounds()
	switch {
	case l.of.Size() == 0:
		return View{}
	case low < 0 || high > len(memory):
		return View{err: outside(low, high, each, len(values))}
	case l.of.Plain():
		return View{memory: memory[low:high:high], needs: l.needs}
	}
	return View{memory, l.of, l.needs, nil}
}

// outside is the error for a layout that goes beyond its slice.
func outside(low, high, each, length int) error {
	index := func(at int) int { // also of one before the slice
		if at < 0 {
			return -((-at + each - 1) / each)
		}
		return at / each
	}
	first, last := index(low), index(high-1)
	return fmt.Errorf("the layout picks values %d to %d: the slice has %d", first, last, length)
}

// ViewOf is a view of all the values, for calls that take a view where nothing is to be picked.
func ViewOf[T any](values []T) View {
	b, needs, err := memoryOf(values)
	return View{memory: b, needs: needs, err: err}
}

// A View is what a layout picks of a slice ([Layout.Of]): the memory of a message. It is a small value. Where the layout does
// not fit the slice it has an error, which the call that is given it returns.
//
// What a view is of has a length in bytes and nothing else: the other side may receive it by any layout of the same
// length, or into a buffer. What is longer than its receive is truncated, as by any other. Where the sender's machine has values of the slice's
// type in memory in another way than the receiver's the error is [ErrRepresentation]; of [Fields] the types of the named ones decide.
type View struct {
	memory []byte         // all of the message if there is no layout
	of     *layout.Layout // otherwise
	needs  representation.Traits
	err    error
}

// Size is the length of the message in bytes.
func (v View) Size() int {
	if v.of == nil {
		return len(v.memory)
	}
	return v.of.Size()
}

// Err is why the view can not be sent or received, or nil.
func (v View) Err() error { return v.err }

// Pack copies the view's bytes to buf and returns how many, at most as many as buf has (MPI_Pack).
func (v View) Pack(buf []byte) (int, error) {
	switch {
	case v.err != nil:
		return 0, v.err
	case v.of == nil:
		return copy(buf, v.memory), nil
	}
	return v.of.Pack(v.base(), 0, buf), nil
}

// Unpack copies the bytes of buf to where the view's are and returns how many, at most as many as the view has (MPI_Unpack).
func (v View) Unpack(buf []byte) (int, error) {
	switch err := v.receivable("Unpack"); {
	case err != nil:
		return 0, err
	case v.of == nil:
		return copy(v.memory, buf), nil
	}
	return v.of.Unpack(v.base(), 0, buf), nil
}

// as is how the view's memory is a message.
func (v View) as() pml.As { return pml.As{Layout: v.of, Needs: v.needs} }

func (v View) base() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(v.memory)) }

// sendable returns why the view can not be sent.
func (v View) sendable(name string) error {
	if v.err != nil {
		return fmt.Errorf("%s: %w", name, v.err)
	}
	return nil
}

// receivable returns why nothing can be received into the view.
func (v View) receivable(name string) error {
	if v.err != nil || v.of == nil {
		return v.sendable(name)
	}
	switch err := v.of.Disjoint(); {
	case errors.Is(err, layout.ErrOverlap):
		return fmt.Errorf("%s: the layout picks a value twice: it can be sent, but which of two values would it receive?", name)
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// same reports whether two views are of the same memory, in the same order.
func (v View) same(w View) bool {
	return v.of == w.of && len(v.memory) == len(w.memory) && (len(v.memory) == 0 || &v.memory[0] == &w.memory[0])
}

func sizeOf[T any]() int {
	var zero T
	return int(unsafe.Sizeof(zero))
}

// made makes layouts whose values depend on these traits.
func made[T any](needs representation.Traits) func(*layout.Layout, error) Layout[T] {
	return func(l *layout.Layout, err error) Layout[T] { return Layout[T]{l, needs, err} }
}

// named has an error say which layout it is about.
func (l Layout[T]) named(format string, values ...any) Layout[T] {
	if l.err != nil {
		l.err = fmt.Errorf("%s: %w", fmt.Sprintf(format, values...), l.err)
	}
	return l
}

// scaled is n times each, unless that is more than an int holds.
func scaled(n, each int) (int, bool) {
	p := n * each
	return p, each == 0 || p/each == n
}
