// Package representation says how processes have values in memory, and what of that matters to the values of a type. It is pure.
package representation

import (
	"encoding/binary"
	"fmt"
	"reflect"
	"strconv"
)

// Traits are those in which processes differ. A process has some of them, and the values of a type depend on some of them.
type Traits uint8

const (
	// Order is that of bytes: a process that has this trait keeps the highest byte first. Values of several bytes depend on it.
	Order Traits = 1 << iota
	// Words is their length: a process that has this trait has words of 32 bits, others of 64. Int and uint are as long as a word.
	// A value of 8 bytes lies at a multiple of a word's length, so structs may depend on it that have no int.
	Words

	all = Order | Words
)

// Valid reports whether a process can have these.
func (t Traits) Valid() bool { return t&^all == 0 }

// Own are those of this process.
func Own() (t Traits) {
	if binary.NativeEndian.Uint16([]byte{0, 1}) == 1 {
		t |= Order
	}
	if strconv.IntSize == 32 {
		t |= Words
	}
	return t
}

// String describes a process that has these.
func (t Traits) String() string {
	order, bits := "little-endian", 64
	if t&Order != 0 {
		order = "big-endian"
	}
	if t&Words != 0 {
		bits = 32
	}
	return fmt.Sprintf("%s with words of %d bits", order, bits)
}

// Of are the traits that the values of a type depend on.
func Of(t reflect.Type) (needs Traits) {
	if hasOrder(t) {
		needs |= Order
	}
	// Where one field is longer or lies further back so does all that follows, and the whole is longer.
	short, _ := extent(t, 4)
	long, _ := extent(t, 8)
	if short != long {
		needs |= Words
	}
	return needs
}

// hasOrder reports whether values of a type have parts of several bytes.
func hasOrder(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Bool, reflect.Int8, reflect.Uint8:
		return false
	case reflect.Array:
		return t.Len() > 0 && hasOrder(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if hasOrder(t.Field(i).Type) {
				return true
			}
		}
		return false
	default:
		return true
	}
}

// extent is how long values of a type are, and at multiples of what they lie, where words have so many bytes.
func extent(t reflect.Type, word uint64) (size, align uint64) {
	switch t.Kind() {
	case reflect.Struct:
		return extentOfStruct(t, word)
	case reflect.Array:
		size, align = extent(t.Elem(), word)
		return size * uint64(t.Len()), align
	case reflect.Bool, reflect.Int8, reflect.Uint8, reflect.Int16, reflect.Uint16, reflect.Int32, reflect.Uint32, reflect.Float32,
		reflect.Int64, reflect.Uint64, reflect.Float64:
		size = uint64(t.Size())
		return size, min(size, word)
	case reflect.Complex64, reflect.Complex128: // two numbers
		size = uint64(t.Size())
		return size, min(size/2, word)
	default: // an int, or what can not be sent, of which there may be an array of none
		return word, word
	}
}

func extentOfStruct(t reflect.Type, word uint64) (size, align uint64) {
	align = 1
	for i := range t.NumField() {
		each, at := extent(t.Field(i).Type, word)
		size = up(size, at) + each
		align = max(align, at)
		if last := i == t.NumField()-1; last && each == 0 && size > 0 {
			size++ // so that the address of the last field is one of the struct
		}
	}
	return up(size, align), align
}

// up is the next multiple.
func up(n, of uint64) uint64 { return (n + of - 1) / of * of }
