package param

import (
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

	// Foreign, if given, says which names may be declared elsewhere. Settings of such names are
	// passed over if they are not declared here.
	Foreign func(name string) bool
}

// Resolve decides on the value of every declared parameter. The error joins all mistakes
// (errors.Join), one a line. Each names the parameter, its value, where the value came from and
// what is allowed.
func (r *Registry) Resolve(in Inputs) (*Values, error) {
	layers, mistakes := readFiles(in.Files, in.Optional)
	slices.Reverse(layers) // apply goes from weak to strong, in.Files from strong to weak
	flags, err := launcherFlags(in.Environ)
	if err != nil {
		mistakes = append(mistakes, err)
	}
	given := slices.Concat(environSettings(in.Environ), flags, in.Settings)
	layers = append(layers, byRank(given)...)
	if in.Foreign != nil {
		for i := range layers {
			layers[i] = slices.DeleteFunc(layers[i], func(s Setting) bool {
				return !r.declares(s.Name) && in.Foreign(s.Name)
			})
		}
	}
	return r.defaults().apply(layers, mistakes)
}

func (r *Registry) declares(name string) bool {
	_, found := r.specs[name]
	return found
}

// With returns a copy of v with some values replaced, whatever the rank of what they replace.
// Among themselves the settings follow the rules of Resolve.
func (v *Values) With(settings ...Setting) (*Values, error) {
	return v.apply(byRank(settings), nil)
}

// defaults returns the values that hold where nobody says otherwise.
func (r *Registry) defaults() *Values {
	v := &Values{entries: make(map[string]entry, len(r.specs))}
	for name, spec := range r.specs {
		parsed, err := spec.parse(spec.Default)
		if err != nil {
			panic(fmt.Sprintf("param: the default of %q passed Declare and is bad: %v", name, err))
		}
		v.entries[name] = entry{Value{spec, spec.Default, Source{Kind: Default}}, parsed}
	}
	return v
}

// layer is a group of settings of the same rank: none of them wins over another.
type layer []Setting

// byRank splits settings into layers, the weakest first.
func byRank(settings []Setting) []layer {
	layers := make([]layer, Flag+1)
	for _, s := range settings {
		if s.Source.Kind == Default {
			s.Source.Kind = Option
		}
		layers[s.Source.Kind] = append(layers[s.Source.Kind], s)
	}
	return layers
}

// apply returns v with the layers applied, each over the one before it. If there are mistakes,
// the error joins the caller's and those found here.
func (v *Values) apply(layers []layer, mistakes []error) (*Values, error) {
	result := &Values{entries: maps.Clone(v.entries)}
	for _, l := range layers {
		entries, wrong := v.read(l)
		maps.Copy(result.entries, entries)
		mistakes = append(mistakes, wrong...)
	}
	mistakes = append(mistakes, result.excesses()...)
	if err := join(mistakes); err != nil {
		return nil, err
	}
	return result, nil
}

// read checks the settings of one layer against the declarations and each other.
func (v *Values) read(l layer) (map[string]entry, []error) {
	var mistakes []error
	entries := make(map[string]entry, len(l))
	for _, s := range l {
		declared, ok := v.entries[s.Name]
		if !ok {
			mistakes = append(mistakes, unknownName(s, maps.Keys(v.entries)))
			continue
		}
		parsed, err := declared.Spec.parse(s.Text)
		if err != nil {
			mistakes = append(mistakes, badValue(s, err))
			continue
		}
		first, seen := entries[s.Name]
		switch {
		case !seen:
			entries[s.Name] = entry{Value{declared.Spec, s.Text, s.Source}, parsed}
		case !sameValue(first.parsed, parsed):
			mistakes = append(mistakes, contradiction(first.Value, s))
		}
	}
	return entries, mistakes
}

// excesses finds the values that are set and are above that of another parameter, where their
// declaration allows no more. A default is no request, so it may be.
func (v *Values) excesses() (mistakes []error) {
	for _, name := range slices.Sorted(maps.Keys(v.entries)) {
		e := v.entries[name]
		bound, declared := v.entries[e.Spec.AtMost]
		if !declared || e.Source.Kind == Default {
			continue
		}
		value, _ := e.parsed.(int)
		if most, is := bound.parsed.(int); is && value > most {
			mistakes = append(mistakes, excess(e.Value, bound.Value))
		}
	}
	return mistakes
}
