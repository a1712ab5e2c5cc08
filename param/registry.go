package param

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Registry is a set of declared parameters. The zero Registry is empty and
// ready for use.
type Registry struct {
	specs map[string]Spec
}

// NewRegistry returns an empty registry.
func NewRegistry() *Registry { return new(Registry) }

// Declare adds parameters. It panics on a mistake in a Spec, which is the programmer's: a name
// that is taken or badly formed, a default or bound that can not be read, a default outside of
// the bounds, no help.
func (r *Registry) Declare(specs ...Spec) {
	for _, spec := range specs {
		if err := r.declare(spec.clone()); err != nil {
			panic(fmt.Sprintf("param: declaring %q: %v", spec.Name, err))
		}
	}
}

func (r *Registry) declare(spec Spec) error {
	if _, taken := r.specs[spec.Name]; taken {
		return errors.New("declared twice")
	}
	if err := spec.check(); err != nil {
		return err
	}
	if r.specs == nil {
		r.specs = make(map[string]Spec)
	}
	r.specs[spec.Name] = spec
	return nil
}

// check finds mistakes in a declaration.
func (s *Spec) check() error {
	bounded := s.Kind == Int || s.Kind == Size || s.Kind == Duration
	switch {
	case !validName(s.Name):
		return errors.New("a name is made of lower-case letters, digits and _, and starts with a letter")
	case isReservedEnv(EnvName(s.Name)):
		return fmt.Errorf("variables that start with %s are the launcher's", ReservedEnv)
	case s.Help == "":
		return errors.New("no help")
	case s.Kind < Int || s.Kind > List:
		return fmt.Errorf("no such kind: %v", s.Kind)
	case s.Level > Developer:
		return fmt.Errorf("no such level: %v", s.Level)
	case (s.Min != "" || s.Max != "") && !bounded:
		return fmt.Errorf("a %v has no bounds", s.Kind)
	case s.AtMost != "" && s.Kind != Int:
		return fmt.Errorf("a %v is compared with no other parameter", s.Kind)
	case (s.Kind == Enum) != (len(s.Choices) > 0):
		return errors.New("choices belong to an enum, and an enum needs them")
	}
	if _, err := s.parse(s.Default); err != nil {
		return fmt.Errorf("default %q: %w", s.Default, err)
	}
	return nil
}

// validName reports whether a name can belong to a parameter.
func validName(name string) bool {
	if name == "" || name[0] < 'a' || name[0] > 'z' {
		return false
	}
	return strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// Specs returns all declarations, sorted by name.
func (r *Registry) Specs() []Spec {
	specs := make([]Spec, 0, len(r.specs))
	for _, name := range slices.Sorted(maps.Keys(r.specs)) {
		specs = append(specs, r.specs[name].clone())
	}
	return specs
}
