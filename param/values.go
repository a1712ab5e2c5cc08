package param

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Value is the value of one parameter and the place that it came from.
type Value struct {
	Spec   Spec
	Text   string // as it was written
	Source Source
}

// Values holds a value for every parameter of a registry. It never changes.
// Its methods panic if the parameter was not declared or is of another kind:
// these are mistakes of the programmer.
type Values struct {
	entries map[string]entry
}

// entry is a value with the result of reading its text.
type entry struct {
	Value
	parsed any
}

// Int returns the value of an Int.
func (v *Values) Int(name string) int { return get[int](v, name, Int) }

// Size returns the value of a Size in bytes.
func (v *Values) Size(name string) int64 { return get[int64](v, name, Size) }

// Duration returns the value of a Duration.
func (v *Values) Duration(name string) time.Duration {
	return get[time.Duration](v, name, Duration)
}

// Bool returns the value of a Bool.
func (v *Values) Bool(name string) bool { return get[bool](v, name, Bool) }

// String returns the value of a String or an Enum.
func (v *Values) String(name string) string { return get[string](v, name, String, Enum) }

// List returns the items of a List. The caller owns the slice.
func (v *Values) List(name string) []string {
	return slices.Clone(get[[]string](v, name, List))
}

// String is the value with the place that it comes from, for errors.
func (v Value) String() string { return fmt.Sprintf("%s=%s from %v", v.Spec.Name, v.Text, v.Source) }

// Value returns a value with its declaration and source.
func (v *Values) Value(name string) Value {
	value := v.entry(name).Value
	value.Spec = value.Spec.clone()
	return value
}

// All returns every value, sorted by name.
func (v *Values) All() []Value {
	values := make([]Value, 0, len(v.entries))
	for _, name := range slices.Sorted(maps.Keys(v.entries)) {
		values = append(values, v.Value(name))
	}
	return values
}

func (v *Values) entry(name string) entry {
	e, ok := v.entries[name]
	if !ok {
		panic(fmt.Sprintf("param: %q was not declared", name))
	}
	return e
}

func get[T any](v *Values, name string, kinds ...Kind) T {
	e := v.entry(name)
	if !slices.Contains(kinds, e.Spec.Kind) {
		panic(fmt.Sprintf("param: %q is declared as %v and read as %v", name, e.Spec.Kind, kinds[0]))
	}
	return e.parsed.(T)
}
