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

// checkSettings refuses unknown parameters and bad values before any rank is started. It checks
// the command line, the environment that the ranks will have, and the files. A program may
// import transports that this command does not contain. Their parameters, and their names in the
// parameter btl, are for the ranks to judge. A name that resembles one of ours may be such a
// transport: ucp is not a misspelt tcp.
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

// lastOfEach keeps the last entry of each variable, which is the one that counts. There are two
// where --env replaces a variable that is set already.
func lastOfEach(environ []string) []string {
	var kept []string
	seen := make(map[string]bool, len(environ))
	for _, entry := range slices.Backward(environ) {
		if name, _, _ := strings.Cut(entry, "="); !seen[name] {
			seen[name] = true
			kept = append(kept, entry)
		}
	}
	slices.Reverse(kept)
	return kept
}

// ofForeignTransport reports whether a parameter belongs to a transport that is not built in.
// Such a name is btl_transport_something.
func ofForeignTransport(name string) bool {
	rest, isTransports := strings.CutPrefix(name, "btl_")
	transport, _, isOne := strings.Cut(rest, "_")
	return isTransports && isOne && btl.Default.Lookup(transport) == nil
}
