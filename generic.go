package strand

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml"
)

// The functions below are the typed forms of the methods with the same names: they send and
// receive the memory of a slice as it is, without a copy. T holds no pointers; any other type
// is an error. Both sides agree on T. A typed form that receives from a machine that has values of T in memory in
// another way ends with [ErrRepresentation]. Otherwise it returns the number of values that have arrived whole, before the status, which
// counts bytes; [Count] finds that number for a request. [Bytes] serves calls that have no
// typed form, as those of vectors.

// Send is [Comm.Send] of values.
func Send[T any](ctx context.Context, c *Comm, values []T, dst, tag int) error {
	return sendValues(ctx, c, (*Comm).Send, values, dst, tag)
}

// Ssend is [Comm.Ssend] of values.
func Ssend[T any](ctx context.Context, c *Comm, values []T, dst, tag int) error {
	return sendValues(ctx, c, (*Comm).Ssend, values, dst, tag)
}

// Bsend is [Comm.Bsend] of values.
func Bsend[T any](ctx context.Context, c *Comm, values []T, dst, tag int) error {
	return sendValues(ctx, c, (*Comm).Bsend, values, dst, tag)
}

// Rsend is [Comm.Rsend] of values.
func Rsend[T any](ctx context.Context, c *Comm, values []T, dst, tag int) error {
	return sendValues(ctx, c, (*Comm).Rsend, values, dst, tag)
}

// Isend is [Comm.Isend] of values.
func Isend[T any](c *Comm, values []T, dst, tag int) (Request, error) {
	return startValues(c, (*Comm).Isend, values, dst, tag)
}

// Issend is [Comm.Issend] of values.
func Issend[T any](c *Comm, values []T, dst, tag int) (Request, error) {
	return startValues(c, (*Comm).Issend, values, dst, tag)
}

// Ibsend is [Comm.Ibsend] of values.
func Ibsend[T any](c *Comm, values []T, dst, tag int) (Request, error) {
	return startValues(c, (*Comm).Ibsend, values, dst, tag)
}

// Irsend is [Comm.Irsend] of values.
func Irsend[T any](c *Comm, values []T, dst, tag int) (Request, error) {
	return startValues(c, (*Comm).Irsend, values, dst, tag)
}

// Irecv is [Comm.Irecv] into values.
func Irecv[T any](c *Comm, values []T, src, tag int) (Request, error) {
	b, needs, err := memoryOf(values)
	if err != nil {
		return Request{}, err
	}
	return c.irecv(pml.As{Needs: needs}, b, nil, src, tag)
}

// Recv is [Comm.Recv] into values.
func Recv[T any](ctx context.Context, c *Comm, values []T, src, tag int) (int, Status, error) {
	given.Context(ctx)
	b, needs, err := memoryOf(values)
	if err != nil {
		return 0, Status{}, err
	}
	st, err := c.recv(ctx, pml.As{Needs: needs}, b, nil, src, tag)
	return Count[T](st), st, err
}

// Sendrecv is [Comm.Sendrecv] of the values of out, into those of in.
func Sendrecv[S, R any](ctx context.Context, c *Comm, out []S, dst, sendTag int, in []R, src, recvTag int) (int, Status, error) {
	given.Context(ctx)
	o, err := Bytes(out)
	if err != nil {
		return 0, Status{}, err
	}
	i, needs, err := memoryOf(in)
	if err != nil {
		return 0, Status{}, err
	}
	st, err := c.sendrecv(ctx, o, dst, sendTag, pml.As{Needs: needs}, i, src, recvTag)
	return Count[R](st), st, err
}

// RecvMatched is [Message.Recv] into values.
func RecvMatched[T any](ctx context.Context, m *Message, values []T) (int, Status, error) {
	given.Context(ctx)
	b, needs, err := memoryOf(values)
	if err != nil {
		return 0, Status{}, err
	}
	st, err := m.recv(ctx, pml.As{Needs: needs}, b, nil)
	return Count[T](st), st, err
}

// IrecvMatched is [Message.Irecv] into values.
func IrecvMatched[T any](m *Message, values []T) (Request, error) {
	b, needs, err := memoryOf(values)
	if err != nil {
		return Request{}, err
	}
	return m.irecv(pml.As{Needs: needs}, b, nil)
}

func sendValues[T any](ctx context.Context, c *Comm, send func(*Comm, context.Context, []byte, int, int) error, values []T, dst, tag int) error {
	given.Context(ctx)
	b, err := Bytes(values)
	if err != nil {
		return err
	}
	return send(c, ctx, b, dst, tag)
}

func startValues[T any](c *Comm, start func(*Comm, []byte, int, int) (Request, error), values []T, peer, tag int) (Request, error) {
	b, err := Bytes(values)
	if err != nil {
		return Request{}, err
	}
	return start(c, b, peer, tag)
}

// Count returns how many whole values of type T the message of a status has.
func Count[T any](st Status) int {
	var zero T
	size := int(unsafe.Sizeof(zero))
	if size == 0 {
		return 0
	}
	return st.Count / size
}

// Bytes returns the memory of the values, so that they can be given to any call that takes
// bytes: several of them to [Comm.SendV], for example. It is an error if T holds pointers. Such a call does not know of T, and takes what any
// machine sends.
func Bytes[T any](values []T) ([]byte, error) {
	b, _, err := memoryOf(values)
	return b, err
}

// memoryOf is Bytes, and what the values depend on.
func memoryOf[T any](values []T) ([]byte, representation.Traits, error) {
	v := judge(reflect.TypeFor[T]())
	if v.err != nil {
		return nil, 0, v.err
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero))), v.needs, nil
}

// plain reports an error unless values of type T have a meaning in every process:
// without pointers of any kind.
func plain[T any]() error { return judge(reflect.TypeFor[T]()).err }

// verdicts remembers, by type, what was judged.
var verdicts sync.Map

// A verdict is what there is to know of values of a type.
type verdict struct {
	needs representation.Traits // what they depend on
	err   error                 // why they can not be sent
}

func judge(t reflect.Type) verdict {
	switch t.Kind() {
	case reflect.Uint8, reflect.Int8, reflect.Bool:
		return verdict{}
	case reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32, reflect.Int64, reflect.Uint64,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return verdict{needs: representation.Order}
	case reflect.Int, reflect.Uint:
		return verdict{needs: representation.Order | representation.Words}
	}
	if v, ok := verdicts.Load(t); ok {
		return v.(verdict)
	}
	v := verdict{needs: representation.Of(t)}
	if where := pointerIn(t); where != "" {
		v.err = fmt.Errorf("values of type %v can not be sent: %s refers to memory of this process", t, where)
	}
	verdicts.Store(t, v)
	return v
}

// pointerIn names a part of t that is or contains a pointer, or returns "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 0 {
			return "" // it holds nothing, whatever it is of
		}
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if where := pointerIn(t.Field(i).Type); where != "" {
				return fmt.Sprintf("field %s (%s)", t.Field(i).Name, where)
			}
		}
		return ""
	case reflect.Pointer, reflect.UnsafePointer, reflect.Chan, reflect.Func, reflect.Interface,
		reflect.Map, reflect.Slice, reflect.String, reflect.Uintptr:
		return t.String()
	}
	return ""
}
