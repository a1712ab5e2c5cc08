package main

import (
	"slices"
	"strings"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/selection"
)

// checkSettings refuses parameters that no program can have, and values that
// they can not have, before any rank is started. A program may import transports
// that this command does not contain: their parameters, and their names in the
// parameter btl, are for its ranks to judge. That a name is almost one of ours
// proves nothing: ucp is not a misspelt tcp.
func checkSettings(settings []param.Setting) error {
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	ours := slices.DeleteFunc(slices.Clone(settings), func(s param.Setting) bool { return ofForeignTransport(s.Name) })
	values, err := registry.Resolve(param.Inputs{Settings: ours})
	if err != nil {
		return usageError{err}
	}
	list := values.Value("btl")
	if _, err := selection.Parse(list.Text, list.Source); err != nil {
		return usageError{err}
	}
	if err := pml.CheckFailoverForm(values.Value("pml_failover")); err != nil {
		return usageError{err}
	}
	return nil
}

// ofForeignTransport reports whether a parameter belongs to a transport that is
// not built in: its name is btl_transport_something.
func ofForeignTransport(name string) bool {
	rest, isTransports := strings.CutPrefix(name, "btl_")
	transport, _, isOne := strings.Cut(rest, "_")
	return isTransports && isOne && btl.Default.Lookup(transport) == nil
}
