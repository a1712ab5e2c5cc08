package strandcmd

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
// they can not have, before any rank is started: those of the command line, of the
// environment that the ranks are to have, and of the files. A program may import transports
// that this command does not contain: their parameters, and their names in the
// parameter btl, are for its ranks to judge. That a name is almost one of ours
// proves nothing: ucp is not a misspelt tcp.
func checkSettings(settings []param.Setting, environ []string) error {
	registry := param.NewRegistry()
	strand.Declare(registry, btl.Default)
	values, err := registry.Resolve(param.Inputs{
		Settings: settings, Environ: lastOfEach(environ), Optional: param.DefaultFiles(), Foreign: ofForeignTransport,
	})
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

// lastOfEach keeps what counts of an environment that names a variable twice, as
// --env does to one that is set already.
func lastOfEach(environ []string) []string {
	var kept []string
	for i, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		again := func(later string) bool { return strings.HasPrefix(later, name+"=") }
		if !slices.ContainsFunc(environ[i+1:], again) {
			kept = append(kept, entry)
		}
	}
	return kept
}

// ofForeignTransport reports whether a parameter belongs to a transport that is
// not built in: its name is btl_transport_something.
func ofForeignTransport(name string) bool {
	rest, isTransports := strings.CutPrefix(name, "btl_")
	transport, _, isOne := strings.Cut(rest, "_")
	return isTransports && isOne && btl.Default.Lookup(transport) == nil
}
