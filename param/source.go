package param

import "fmt"

// SourceKind is the sort of place that a value came from. A greater one wins
// over a smaller one.
type SourceKind uint8

const (
	Default     SourceKind = iota // the parameter's own default
	File                          // a line of a file
	Environment                   // a STRAND_ variable
	Option                        // an option that the program passed
	Flag                          // the command line
)

func (k SourceKind) String() string {
	switch k {
	case Default:
		return "default"
	case File:
		return "file"
	case Environment:
		return "environment"
	case Option:
		return "option"
	case Flag:
		return "flag"
	}
	return fmt.Sprintf("source(%d)", uint8(k))
}

// Source is the place that a value came from.
type Source struct {
	Kind SourceKind

	// Where is the exact place: "strand.conf:12" (File), "STRAND_BTL"
	// (Environment), "--btl" or "-p" (Flag). It may be empty but for files.
	Where string
}

// String returns the place as it reads after the word "from".
func (s Source) String() string {
	switch {
	case s.Kind == Environment && s.Where != "":
		return "the environment, " + shown(s.Where)
	case s.Kind == Environment:
		return "the environment"
	case s.Where != "":
		return shown(s.Where)
	case s.Kind == Flag:
		return "the command line"
	case s.Kind == Option:
		return "a program option"
	case s.Kind == File:
		return "a file"
	}
	return "the default"
}

// Setting is one value that somebody gave, before it was checked.
type Setting struct {
	Name   string
	Text   string
	Source Source // the zero Source stands for a program option
}
