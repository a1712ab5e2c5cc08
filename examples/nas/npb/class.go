package npb

import "fmt"

// A Class is the size of a problem.
type Class byte

// The classes, from small to large. S and W run anywhere; A wants up to half a gigabyte, B up to two.
const (
	S Class = 'S'
	W Class = 'W'
	A Class = 'A'
	B Class = 'B'
)

// Classes are all, from small to large.
func Classes() []Class { return []Class{S, W, A, B} }

// ParseClass returns the class that a text names, in either case.
func ParseClass(text string) (Class, error) {
	if len(text) == 1 {
		for _, c := range Classes() {
			if text[0] == byte(c) || text[0] == byte(c)+'a'-'A' {
				return c, nil
			}
		}
	}
	return 0, fmt.Errorf("class %q: want S, W, A or B", text)
}

// String is the class's letter.
func (c Class) String() string { return string(rune(c)) }

// MarshalText implements encoding.TextMarshaler.
func (c Class) MarshalText() ([]byte, error) { return []byte{byte(c)}, nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (c *Class) UnmarshalText(text []byte) (err error) {
	*c, err = ParseClass(string(text))
	return err
}
