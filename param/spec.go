package param

import (
	"fmt"
	"slices"
	"strings"
)

// Kind says how the text of a value is read.
type Kind uint8

const (
	Int      Kind = iota + 1 // a decimal whole number
	Size                     // bytes: digits, optionally K, M, G or T for powers of 1024
	Duration                 // as time.ParseDuration: 500ms, 2s, 1m30s
	Bool                     // true or false, yes or no, on or off, 1 or 0
	String                   // any text
	Enum                     // one of the Spec's Choices
	List                     // items separated by commas; an empty text is an empty list
)

func (k Kind) String() string {
	switch k {
	case Int:
		return "int"
	case Size:
		return "size"
	case Duration:
		return "duration"
	case Bool:
		return "bool"
	case String:
		return "string"
	case Enum:
		return "enum"
	case List:
		return "list"
	}
	return fmt.Sprintf("kind(%d)", uint8(k))
}

// Level says whom a parameter is for. Tools hide what is above the level asked for.
type Level uint8

const (
	User      Level = iota // needed to run a program: which networks, which interfaces
	Tuner                  // makes a program faster on one machine or another
	Developer              // for those who work on Strand itself
)

func (l Level) String() string {
	switch l {
	case User:
		return "user"
	case Tuner:
		return "tuner"
	case Developer:
		return "developer"
	}
	return fmt.Sprintf("level(%d)", uint8(l))
}

// Spec declares one parameter. Default, Min and Max are written as a user
// would write them: "64K", "500ms", "true".
type Spec struct {
	Name    string // lower-case letters, digits and _, led by the part's name: btl_tcp_port_min
	Kind    Kind
	Default string
	Min     string   // the smallest value allowed; "" for none (Int, Size, Duration)
	Max     string   // the largest value allowed; "" for none (Int, Size, Duration)
	Choices []string // what an Enum may be
	AtMost  string   // another Int, if declared: a value that is set is not above that one's
	Unit    string   // what an Int counts, "" if nothing: "links", "Mbit/s"
	Help    string   // one or two sentences
	Level   Level
	Alike   bool // all ranks of a job have the same value: one that has another than rank 0 is not let in
}

// Allowed says in words what the parameter's kind leaves open: "1 to 64",
// "at least 1", "tcp, self", and "" if nothing is excluded.
func (s Spec) Allowed() string {
	switch {
	case s.Kind == Enum:
		return strings.Join(s.Choices, ", ")
	case s.Min != "" && s.Max != "":
		return s.Min + " to " + s.Max
	case s.Min != "":
		return "at least " + s.Min
	case s.Max != "":
		return "at most " + s.Max
	}
	return ""
}

// clone returns a copy that shares no memory with s.
func (s Spec) clone() Spec {
	s.Choices = slices.Clone(s.Choices)
	return s
}
