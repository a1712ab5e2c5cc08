package selection

import (
	"errors"
	"slices"
	"strings"

	"github.com/strandmp/strand/btl"
)

// Check says what is wrong with a list. A name that the registry does not hold is an error. That
// holds for an excluding list too: the transport that was meant would otherwise stay in use. A list
// that allows nothing is an error as well.
func (l List) Check(r *btl.Registry) error {
	var mistakes []error
	for _, name := range l.Names {
		if _, err := r.Find(name); err != nil {
			mistakes = append(mistakes, l.mistake("%w", err))
		}
	}
	if len(mistakes) == 0 && !slices.ContainsFunc(r.Names(), l.Allows) {
		return l.nothingLeft(r.Names())
	}
	return errors.Join(mistakes...)
}

// Components returns the components of the registry that are to be used, in the order of their
// names. There is at least one. An error is that of Check, or that all which the list allows
// want to be asked for by name.
func (l List) Components(r *btl.Registry) ([]btl.Component, error) {
	if err := l.Check(r); err != nil {
		return nil, err
	}
	var used []btl.Component
	var unasked []string
	for _, c := range r.Components() {
		switch {
		case l.Uses(c):
			used = append(used, c)
		case l.Allows(c.Name()):
			unasked = append(unasked, c.Name())
		}
	}
	if len(used) == 0 {
		return nil, l.mistake("leaves only what has to be asked for by name (%s): name what to use", strings.Join(unasked, ", "))
	}
	return used, nil
}

// Uses reports whether a component is to be used. A list of what not to use does not ask for one
// that wants to be asked for ([btl.Requested]).
func (l List) Uses(c btl.Component) bool {
	_, requested := c.(btl.Requested)
	return l.Allows(c.Name()) && (!requested || !l.Exclude)
}

func (l List) nothingLeft(available []string) error {
	if len(available) == 0 {
		return l.mistake("this program contains no transport; import one, as github.com/strandmp/strand does with its own")
	}
	return l.mistake("excludes every transport there is (%s); leave at least one", strings.Join(available, ", "))
}
