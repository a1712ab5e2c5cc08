package btl

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/strandmp/strand/param"
)

// A Registry holds components by name. The zero value is empty and ready.
type Registry struct {
	mu     sync.RWMutex
	byName map[string]Component
}

// Default is the registry that a world uses unless told otherwise. Transports
// add themselves to it when they are imported.
var Default = new(Registry)

// Register adds a component to the default registry. See [Registry.Register].
func Register(c Component) { Default.Register(c) }

// Register adds a component. It panics on nil, on a name that is not a
// lower-case word, and on a name already taken: each is a mistake in the
// program that no user can mend.
func (r *Registry) Register(c Component) {
	if c == nil {
		panic("btl: Register of a nil component")
	}
	name := c.Name()
	if !validName(name) {
		panic(fmt.Sprintf("btl: Register: %q is not a lower-case word of letters and digits", name))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, dup := r.byName[name]; dup {
		panic("btl: Register called twice for " + name)
	}
	if r.byName == nil {
		r.byName = make(map[string]Component)
	}
	r.byName[name] = c
}

// Lookup returns the component of that name, or nil.
func (r *Registry) Lookup(name string) Component {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return r.byName[name]
}

// Find returns the component of that name. Otherwise the error tells the user which components
// there are, which one was perhaps meant, and how a program gets another.
func (r *Registry) Find(name string) (Component, error) {
	if c := r.Lookup(name); c != nil {
		return c, nil
	}
	names := r.Names()
	hint, have := "", "none"
	if near := param.Nearest(name, slices.Values(names)); near != "" {
		hint = fmt.Sprintf("; did you mean %s?", near)
	}
	if len(names) > 0 {
		have = strings.Join(names, ", ")
	}
	return nil, fmt.Errorf("there is no transport %.80q%s Available: %s. Any other has to be compiled into the program, by an import "+
		"(docs/WRITING-A-BTL.md, %q)", name, cmp.Or(hint, "."), have, compiledIn)
}

// compiledIn is the chapter that says how a program gets another transport.
const compiledIn = "In programs, and in strand"

// Components returns all components in the order of their names.
func (r *Registry) Components() []Component {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.SortedFunc(maps.Values(r.byName), func(a, b Component) int { return strings.Compare(a.Name(), b.Name()) })
}

// Names returns the names of all components, sorted.
func (r *Registry) Names() []string {
	var names []string
	for _, c := range r.Components() {
		names = append(names, c.Name())
	}
	return slices.Clip(names)
}

func validName(s string) bool {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return false
	}
	for _, c := range s {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}
