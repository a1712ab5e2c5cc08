package compare

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// A Variant is a transport with parameters: one of those that are compared.
type Variant struct {
	Name   string            // as it was given, without spaces: tcp(links=4)
	BTL    string            // the transport's name
	Params map[string]string // by full name
}

// toOneself serves messages of a rank to itself, in every variant.
const toOneself = "self"

// ParseVariants reads a list of variants: tcp,sctp(streams=1). A parameter is one of
// the transport's (streams for btl_sctp_streams) or, by its full name, any.
// What the parameters may be is checked too.
func ParseVariants(text string, transports *btl.Registry) ([]Variant, error) {
	items, err := parseItems(text)
	if err != nil {
		return nil, err
	}
	declared := param.NewRegistry()
	strand.Declare(declared, transports)
	var variants []Variant
	for _, i := range items {
		v, err := newVariant(i, declared, transports)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(variants, func(other Variant) bool { return other.Name == v.Name }) {
			return nil, fmt.Errorf("%s is there twice; to see what chance alone does, compare it with itself under another name, such as %s", v.Name, alias(i))
		}
		variants = append(variants, v)
	}
	return variants, nil
}

// alias returns another name for the same variant: it sets a parameter to the value that it has
// anyway.
func alias(i item) string {
	i.params = append(slices.Clip(i.params), pair{"pml_ordering", "strict"})
	return i.String()
}

func newVariant(i item, declared *param.Registry, transports *btl.Registry) (Variant, error) {
	v := Variant{Name: i.String(), BTL: i.name, Params: map[string]string{}}
	if i.name == toOneself {
		return v, fmt.Errorf("the transport %s is for messages of a rank to itself: it is part of every variant", toOneself)
	}
	if _, err := transports.Find(i.name); err != nil {
		return v, err
	}
	for _, p := range i.params {
		name, err := v.parameter(p.name, declared)
		if err != nil {
			return v, fmt.Errorf("%s: %w", v.Name, err)
		}
		if _, twice := v.Params[name]; twice {
			return v, fmt.Errorf("%s: %s is set twice", v.Name, name)
		}
		v.Params[name] = p.value
	}
	if _, err := declared.Resolve(param.Inputs{Settings: settings(v.Params, v.Name)}); err != nil {
		return v, err
	}
	return v, nil
}

// parameter returns the full name of a parameter.
func (v Variant) parameter(name string, declared *param.Registry) (string, error) {
	prefix := "btl_" + v.BTL + "_"
	if name == "btl" {
		return "", errors.New("btl is what the variant names itself: leave it out")
	}
	var own, names []string
	for _, spec := range declared.Specs() {
		if spec.Name == prefix+name || spec.Name == name {
			return spec.Name, nil
		}
		names = append(names, spec.Name)
		if short, isOwn := strings.CutPrefix(spec.Name, prefix); isOwn {
			own = append(own, short)
		}
	}
	err := fmt.Errorf("there is no parameter %s or %s%s", name, prefix, name)
	if near := param.Nearest(name, slices.Values(append(own, names...))); near != "" {
		return "", fmt.Errorf("%w; did you mean %s?", err, near)
	}
	return "", fmt.Errorf("%w; want one of %s, or the full name of another (strand info --param all)", err, strings.Join(own, ", "))
}

// settings are parameters as a launcher passes them on.
func settings(params map[string]string, where string) []param.Setting {
	var all []param.Setting
	for _, name := range slices.Sorted(maps.Keys(params)) {
		all = append(all, param.Setting{Name: name, Text: params[name], Source: param.Source{Kind: param.Flag, Where: where}})
	}
	return all
}

// noSuch is the error for an unknown name. It says which names there are.
func noSuch(what, name string, have []string) error {
	list := strings.Join(have, ", ")
	if near := param.Nearest(strings.ToLower(name), slices.Values(have)); near != "" {
		return fmt.Errorf("there is no %s %q; did you mean %s? There are %s", what, name, near, list)
	}
	return fmt.Errorf("there is no %s %q: there are %s", what, name, list)
}
