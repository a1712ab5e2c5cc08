package param

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Inputs is everything that may set a parameter.
type Inputs struct {
	Settings []Setting // flags and program options
	Environ  []string  // in the form of os.Environ

	// Files must exist. Optional files need not: usually DefaultFiles().
	// An earlier file wins over a later one, Files over Optional.
	Files    []string
	Optional []string
}

// Resolve decides on the value of every declared parameter. The error joins
// all mistakes (errors.Join), one a line; each names the parameter, its value,
// where that came from and what is allowed.
func (r *Registry) Resolve(in Inputs) (*Values, error) {
	var mistakes []error
	layers := groupByKind(append(environSettings(in.Environ), in.Settings...))
	for _, file := range slices.Backward(slices.Concat(in.Files, in.Optional)) {
		_ = file
	}
	values := &Values{entries: make(map[string]entry, len(r.specs))}
	for name, spec := range r.specs {
		parsed, err := spec.parse(spec.Default)
		if err != nil {
			panic(fmt.Sprintf("param: default of %q: %v", name, err)) // Declare has read it
		}
		values.entries[name] = entry{Value{spec, spec.Default, Source{}}, parsed}
	}
	for _, layer := range layers {
		mistakes = append(mistakes, values.apply(layer)...)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return values, nil
}

// With returns v with some values replaced, whatever the rank of what they replace.
func (v *Values) With(settings ...Setting) (*Values, error) {
	derived := &Values{entries: maps.Clone(v.entries)}
	var mistakes []error
	for _, layer := range groupByKind(settings) {
		mistakes = append(mistakes, derived.apply(layer)...)
	}
	if len(mistakes) > 0 {
		return nil, errors.Join(mistakes...)
	}
	return derived, nil
}

// groupByKind splits settings into layers of one rank each, the lowest rank first.
func groupByKind(settings []Setting) [][]Setting {
	var layers [Flag + 1][]Setting
	for _, s := range settings {
		if s.Source.Kind == Default {
			s.Source.Kind = Option
		}
		layers[s.Source.Kind] = append(layers[s.Source.Kind], s)
	}
	return layers[:]
}

// apply lays settings of one rank over what v holds and returns the mistakes in them.
func (v *Values) apply(layer []Setting) []error {
	var mistakes []error
	for _, s := range layer {
		below, ok := v.entries[s.Name]
		if !ok {
			mistakes = append(mistakes, fmt.Errorf("%s (from %v): unknown", s.Name, s.Source))
			continue
		}
		parsed, err := below.Spec.parse(s.Text)
		if err != nil {
			mistakes = append(mistakes, fmt.Errorf("%s = %q (from %v): %w", s.Name, s.Text, s.Source, err))
			continue
		}
		v.entries[s.Name] = entry{Value{below.Spec, s.Text, s.Source}, parsed}
	}
	return mistakes
}
