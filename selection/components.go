package selection

import (
	"errors"
	"strings"

	"github.com/strandmp/strand/btl"
)

// Components returns the components of the registry that the list allows, in
// the order of their names. A name that the registry does not hold is an error.
// That holds for an excluding list too: the transport that was meant would
// otherwise stay in use. A list that leaves nothing is an error as well.
func (l List) Components(r *btl.Registry) ([]btl.Component, error) {
	var mistakes []error
	for _, name := range l.Names {
		if _, err := r.Find(name); err != nil {
			mistakes = append(mistakes, l.mistake("%w", err))
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
		return nil, l.nothingLeft(r.Names())
	}
	return allowed, nil
}

func (l List) nothingLeft(available []string) error {
	if len(available) == 0 {
		return l.mistake("this program contains no transport; import one, as github.com/strandmp/strand does with its own")
	}
	return l.mistake("excludes every transport there is (%s); leave at least one", strings.Join(available, ", "))
}
