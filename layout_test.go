package strand

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/pml"
)

// Slices of these types are handed to the message layer as slices of its own.
func TestLayout(t *testing.T) {
	sameLayout[Request, pml.Request](t)
	sameLayout[Status, pml.Status](t)
	sameLayout[Outcome, pml.Outcome](t)
}

// What the message layer reports, the world does.
func TestReports(t *testing.T) {
	sameFields[Stats, pml.Stats](t)
	sameFields[Traffic, pml.Traffic](t)
	sameFields[RailReport, pml.RailReport](t)
	var full pml.RailReport
	fill(reflect.ValueOf(&full).Elem())
	report := reflect.ValueOf(railReport(full))
	for i := range report.NumField() {
		assert.False(t, report.Field(i).IsZero(), report.Type().Field(i).Name)
	}
}

// sameLayout checks that values of the two types are the same in memory.
func sameLayout[A, B any](t *testing.T) {
	a, b := leaves(reflect.TypeFor[A](), 0), leaves(reflect.TypeFor[B](), 0)
	assert.Equal(t, b, a, reflect.TypeFor[A]().Name())
	assert.Equal(t, reflect.TypeFor[B]().Size(), reflect.TypeFor[A]().Size())
}

type leaf struct {
	at uintptr
	of reflect.Type
}

// leaves are the fields that are no structs themselves.
func leaves(t reflect.Type, at uintptr) []leaf {
	if t.Kind() != reflect.Struct {
		return []leaf{{at, t}}
	}
	var all []leaf
	for f := range fields(t) {
		all = append(all, leaves(f.Type, at+f.Offset)...)
	}
	return all
}

func fields(t reflect.Type) func(func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for i := range t.NumField() {
			if !yield(t.Field(i)) {
				return
			}
		}
	}
}

// sameFields checks that the two types have fields of the same names and tags.
func sameFields[A, B any](t *testing.T) {
	var a, b []string
	for f := range fields(reflect.TypeFor[A]()) {
		a = append(a, f.Name+" "+string(f.Tag))
	}
	for f := range fields(reflect.TypeFor[B]()) {
		b = append(b, f.Name+" "+string(f.Tag))
	}
	assert.Equal(t, b, a, reflect.TypeFor[A]().Name())
}

// fill sets a value and what it consists of to what is not zero.
func fill(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
	case reflect.String:
		v.SetString("x")
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Uint64:
		v.SetUint(1)
	default:
		v.SetInt(1)
	}
}
