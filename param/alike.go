package param

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Alike is what is set of the parameters that all ranks of a job have alike ([Spec]), as text for another rank's [Values.CheckAlike]. It is
// empty where all of them have their defaults.
func (v *Values) Alike() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(v.entries)) {
		if e := v.entries[name]; e.Spec.Alike && !sameValue(e.parsed, v.standard(e.Spec)) {
			fmt.Fprintf(&b, "%s=%s\n", name, strconv.Quote(e.Text))
		}
	}
	return b.String()
}

// standard is a declaration's default, which passed Declare.
func (v *Values) standard(s Spec) any {
	parsed, _ := s.parse(s.Default)
	return parsed
}

// CheckAlike compares with what Alike has returned on another rank. The error names each parameter that differs, with both values and where this rank's
// comes from. Parameters that are not declared here are passed over: who uses them finds out.
func (v *Values) CheckAlike(rank int, theirs string) error {
	texts, err := alikeFrom(theirs)
	if err != nil {
		return fmt.Errorf("parameters of rank %d: %w", rank, err)
	}
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(v.entries)) {
		e := v.entries[name]
		if !e.Spec.Alike {
			continue
		}
		text, set := texts[name]
		if !set {
			text = e.Spec.Default
		}
		if parsed, err := e.Spec.parse(text); err != nil || !sameValue(parsed, e.parsed) {
			differ = append(differ, fmt.Sprintf("%v, but %s on rank %d", e.Value, text, rank))
		}
	}
	if len(differ) == 0 {
		return nil
	}
	return fmt.Errorf("%s: give all ranks the same value: they would wait for each other without an end", strings.Join(differ, "; "))
}

var errAlike = errors.New("malformed text")

// alikeFrom reads what Alike has written: the texts of values by their names.
func alikeFrom(text string) (map[string]string, error) {
	texts := make(map[string]string)
	for line := range strings.Lines(text) {
		name, quoted, found := strings.Cut(strings.TrimSuffix(line, "\n"), "=")
		value, err := strconv.Unquote(quoted)
		if !found || err != nil {
			return nil, errAlike
		}
		texts[name] = value
	}
	return texts, nil
}
