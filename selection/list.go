package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/strandmp/strand/param"
)

// A List is a parsed value of the parameter btl: the transports to use
// ("tcp,self") or, with ^ in front, those not to use ("^tcp"). The zero List
// allows every transport. The order of names has no meaning.
type List struct {
	// Exclude says that the names are those not to use.
	Exclude bool
	// Names are sorted and differ from each other.
	Names []string

	given param.Setting
}

// Parse reads a value of the parameter btl. The source is for errors, which
// name it.
//
// The empty text allows every transport. A ^ counts for the whole list and
// stands only at its start. Spaces around names are ignored and a name that is
// repeated counts once; whether there is a transport of that name is for
// [List.Components] to say.
func Parse(text string, source param.Source) (List, error) {
	return ParseNamed("btl", text, source)
}

// ParseNamed is Parse for another parameter of that form.
func ParseNamed(name, text string, source param.Source) (List, error) {
	l := List{given: param.Setting{Name: name, Text: text, Source: source}}
	rest := strings.TrimSpace(text)
	if rest == "" {
		return l, nil
	}
	rest, l.Exclude = strings.CutPrefix(rest, "^")
	if l.Exclude && strings.TrimSpace(rest) == "" {
		return List{}, l.mistake(`^ excludes nothing; name what to leave out ("^tcp"), or give an empty list to use every transport`)
	}
	for name := range strings.SplitSeq(rest, ",") {
		name = strings.TrimSpace(name)
		if err := l.checkName(name); err != nil {
			return List{}, err
		}
		l.Names = append(l.Names, name)
	}
	slices.Sort(l.Names)
	l.Names = slices.Compact(l.Names)
	return l, nil
}

func (l List) checkName(name string) error {
	switch {
	case name == "":
		return l.mistake("a name is missing next to a comma; names are separated by single commas")
	case strings.HasPrefix(name, "^") && l.Exclude:
		return l.mistake("^ counts for the whole list and stands only once, at its start; write ^a,b to exclude both a and b")
	case strings.HasPrefix(name, "^"):
		return l.mistake("a list either includes or excludes: ^ stands only at the start and then counts for every name; "+
			"what an including list does not name is not used anyway, so leave %s out", clip(name))
	}
	return nil
}

// Allows reports whether the transport of that name is to be used.
func (l List) Allows(name string) bool {
	if len(l.Names) == 0 {
		return true
	}
	_, listed := slices.BinarySearch(l.Names, name)
	return listed != l.Exclude
}

// String returns the list as a user would write it. The empty string allows
// every transport.
func (l List) String() string {
	s := strings.Join(l.Names, ",")
	if l.Exclude {
		s = "^" + s
	}
	return s
}

// mistake says what is wrong with the text the list was made from.
func (l List) mistake(format string, args ...any) error {
	return fmt.Errorf("%s = %q (from %v): %w", l.given.Name, clip(l.given.Text), l.given.Source, fmt.Errorf(format, args...))
}

// clip shortens somebody's text for an error.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
