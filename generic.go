package strand

import (
	"context"
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/strandmp/strand/internal/given"
)

// Send sends a slice of fixed-size values as they are in memory, without a copy.
// T must not contain pointers, and both sides must agree on T and on the
// machine's representation of it.
func Send[T any](ctx context.Context, c *Comm, values []T, dst, tag int) error {
	given.Context(ctx)
	b, err := bytesOf(values)
	if err != nil {
		return err
	}
	return c.Send(ctx, b, dst, tag)
}

// Recv receives into a slice of fixed-size values and returns how many have
// arrived whole, beside the status, which counts bytes.
func Recv[T any](ctx context.Context, c *Comm, values []T, src, tag int) (int, Status, error) {
	given.Context(ctx)
	b, err := bytesOf(values)
	if err != nil {
		return 0, Status{}, err
	}
	st, err := c.Recv(ctx, b, src, tag)
	return Count[T](st), st, err
}

// Isend starts what the function Send does.
func Isend[T any](c *Comm, values []T, dst, tag int) (Request, error) {
	b, err := bytesOf(values)
	if err != nil {
		return Request{}, err
	}
	return c.Isend(b, dst, tag)
}

// Irecv starts what the function Recv does. [Count] turns the status into a
// number of values.
func Irecv[T any](c *Comm, values []T, src, tag int) (Request, error) {
	b, err := bytesOf(values)
	if err != nil {
		return Request{}, err
	}
	return c.Irecv(b, src, tag)
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

// bytesOf returns the memory of the values.
func bytesOf[T any](values []T) ([]byte, error) {
	if err := plain[T](); err != nil {
		return nil, err
	}
	var zero T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(values))), len(values)*int(unsafe.Sizeof(zero))), nil
}

// verdicts remembers, by type, why its values can not be sent.
var verdicts sync.Map

type verdict struct{ err error }

// plain reports an error unless values of type T are the same in every process:
// without pointers of any kind.
func plain[T any]() error {
	t := reflect.TypeFor[T]()
	switch t.Kind() {
	case reflect.Uint8, reflect.Int8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32,
		reflect.Int64, reflect.Uint64, reflect.Float32, reflect.Float64, reflect.Int, reflect.Uint,
		reflect.Complex64, reflect.Complex128, reflect.Bool:
		return nil
	}
	if v, ok := verdicts.Load(t); ok {
		return v.(verdict).err
	}
	var err error
	if where := pointerIn(t); where != "" {
		err = fmt.Errorf("values of type %v can not be sent: %s refers to memory of this process", t, where)
	}
	verdicts.Store(t, verdict{err})
	return err
}

// pointerIn names a part of t that is or contains a pointer, or returns "".
func pointerIn(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Array:
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
