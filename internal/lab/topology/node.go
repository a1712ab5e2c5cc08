package topology

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/strandmp/strand/param"
)

// fields are what a mapping may have, each with what reads its value.
type fields map[string]func(*yaml.Node) error

// aliases bounds how often one name stands for another.
const aliases = 16

// meant follows an alias to what it stands for.
func meant(n *yaml.Node) *yaml.Node {
	for range aliases {
		if n.Kind != yaml.AliasNode || n.Alias == nil {
			break
		}
		n = n.Alias
	}
	return n
}

// read reads a mapping. A key that comes twice, or is unknown, is an error.
func (f fields) read(n *yaml.Node) error {
	n = meant(n)
	if n.Kind != yaml.MappingNode {
		return at(n, fmt.Errorf("want names and values, such as %s: …", f.names()[0]))
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		read, known := f[key.Value]
		switch {
		case !known:
			return at(key, f.unknown(key.Value))
		case seen[key.Value]:
			return at(key, fmt.Errorf("%s is there twice", key.Value))
		}
		seen[key.Value] = true
		if err := read(meant(value)); err != nil {
			return at(key, err, key.Value)
		}
	}
	return nil
}

func (f fields) names() []string { return slices.Sorted(maps.Keys(f)) }

func (f fields) unknown(name string) error {
	if near := param.Nearest(name, maps.Keys(f)); near != "" {
		return fmt.Errorf("there is no %q; did you mean %s?", name, near)
	}
	return fmt.Errorf("there is no %q: want some of %s", name, strings.Join(f.names(), ", "))
}

// A placedError is at a line of the file.
type placedError struct {
	line int
	path []string // the names that lead there
	err  error
}

func (e *placedError) Error() string {
	text := e.err.Error()
	for _, name := range slices.Backward(e.path) {
		if !strings.HasPrefix(text, name+" ") { // which says it already
			text = name + ": " + text
		}
	}
	return fmt.Sprintf("line %d: %s", e.line, text)
}

func (e *placedError) Unwrap() error { return e.err }

// at adds to an error the most exact place in the file that is known, and the names that lead
// there.
func at(n *yaml.Node, err error, names ...string) error {
	if inner, placed := errors.AsType[*placedError](err); placed {
		inner.path = append(names, inner.path...)
		return inner
	}
	return &placedError{n.Line, names, err}
}

// value reads a scalar.
func value[T any](to *T, parse func(string) (T, error)) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode {
			return errors.New("want one value")
		}
		v, err := parse(n.Value)
		if err == nil {
			*to = v
		}
		return err
	}
}

// list reads a sequence.
func list(n *yaml.Node, each func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return errors.New("want a list, such as [a, b]")
	}
	for _, one := range n.Content {
		if err := each(meant(one)); err != nil {
			return at(one, err)
		}
	}
	return nil
}
