package selection

import (
	"errors"
	"slices"
	"strings"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Components returns the components of the registry that the list allows, in
// the order of their names. A name that the registry does not hold is an error,
// in an excluding list too: what was meant would otherwise stay in use. So is a
// list that leaves nothing.
func (l List) Components(r *btl.Registry) ([]btl.Component, error) {
	available := r.Names()
	var mistakes []error
	for _, name := range l.Names {
		if r.Lookup(name) == nil {
			mistakes = append(mistakes, l.unknown(name, available))
		}
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	var allowed []btl.Component
	for _, c := range r.Components() {
		if l.Allows(c.Name()) {
			allowed = append(allowed, c)
		}
	}
	if len(allowed) == 0 {
		return nil, l.nothingLeft(available)
	}
	return allowed, nil
}

func (l List) unknown(name string, available []string) error {
	have := strings.Join(available, ", ")
	if have == "" {
		have = "none"
	}
	if near := param.Nearest(name, slices.Values(available)); near != "" {
		return l.mistake("there is no transport %q; did you mean %s? Available: %s", clip(name), near, have)
	}
	return l.mistake("there is no transport %q. Available: %s", clip(name), have)
}

func (l List) nothingLeft(available []string) error {
	if len(available) == 0 {
		return l.mistake("this program contains no transport; import one, as github.com/strandmp/strand does with its own")
	}
	return l.mistake("excludes every transport there is (%s); leave at least one", strings.Join(available, ", "))
}
