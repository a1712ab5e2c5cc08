package strandcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/strandmp/strand/param"
)

// parameterInfo is a parameter with its value.
type parameterInfo struct {
	Name        string `json:"name"`
	Value       string `json:"value"`
	Source      string `json:"source"`          // default, file, environment, option, flag
	Where       string `json:"where,omitempty"` // strand.conf:12, STRAND_BTL, --btl
	Default     string `json:"default"`
	Type        string `json:"type"`
	Allowed     string `json:"allowed,omitempty"`
	Unit        string `json:"unit,omitempty"`
	Level       string `json:"level"`
	Environment string `json:"environment"` // the variable that sets it
	Help        string `json:"help"`
}

func describe(v param.Value) parameterInfo {
	return parameterInfo{
		Name: v.Spec.Name, Value: v.Text, Source: v.Source.Kind.String(), Where: v.Source.Where,
		Default: v.Spec.Default, Type: v.Spec.Kind.String(), Allowed: v.Spec.Allowed(), Unit: v.Spec.Unit,
		Level: v.Spec.Level.String(), Environment: param.EnvName(v.Spec.Name), Help: v.Spec.Help,
	}
}

// from says in a few words where the value comes from.
func (p parameterInfo) from() string {
	if p.Where == "" {
		return p.Source
	}
	return p.Where
}

// allParameters is the group that every parameter belongs to.
const allParameters = "all"

// chooseParameters returns the parameters of a group (btl), those of one component of the group
// (btl tcp), or the one of that name.
func chooseParameters(values []param.Value, group, component string) ([]param.Value, error) {
	if component == allParameters {
		component = ""
	}
	prefix := group
	switch {
	case group == "" || group == allParameters && component == "":
		return values, nil
	case group == allParameters:
		prefix = "btl_" + component // only transports have components
	case component != "":
		prefix += "_" + component
	}
	chosen := slices.DeleteFunc(slices.Clone(values), func(v param.Value) bool {
		return v.Spec.Name != prefix && !strings.HasPrefix(v.Spec.Name, prefix+"_")
	})
	if len(chosen) > 0 {
		return chosen, nil
	}
	what := strings.TrimSpace("--param " + group + " " + component)
	names := groups(values)
	all := strings.Join(names, ", ")
	for _, v := range values {
		names = append(names, v.Spec.Name)
	}
	if near := param.Nearest(prefix, slices.Values(names)); near != "" {
		return nil, fmt.Errorf("%s: no such parameters; did you mean %s? Groups: all, %s", what, near, all)
	}
	return nil, fmt.Errorf("%s: no such parameters. Groups: all, %s", what, all)
}

// groups are the first words of the parameters' names and, for transports, the
// first two: "btl", "btl tcp", "pml".
func groups(values []param.Value) []string {
	found := make(map[string]bool)
	for _, v := range values {
		words := strings.SplitN(v.Spec.Name, "_", 3)
		found[words[0]] = true
		if words[0] == "btl" && len(words) == 3 {
			found["btl "+words[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}
