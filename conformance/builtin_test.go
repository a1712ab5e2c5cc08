package conformance_test

import (
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	_ "github.com/strandmp/strand/internal/builtin" // registers what comes with Strand
	"github.com/strandmp/strand/param"
)

// builtin has a factory for each transport that comes with Strand. One that is
// registered and missing here fails the test.
var builtin = map[string]conformance.Factory{
	"sctp": registered("sctp", setting("btl_sctp_stack", "user"), setting("btl_sctp_connect_timeout", "10s"), setting("btl_sctp_handshake_timeout", "10s")),
	"self": registered("self"),
	"tcp":  registered("tcp", setting("btl_tcp_connect_timeout", "10s"), setting("btl_tcp_handshake_timeout", "10s")),
}

func registered(name string, settings ...param.Setting) conformance.Factory {
	return func() conformance.Subject {
		return conformance.Subject{Component: btl.Default.Lookup(name), Settings: settings}
	}
}

func TestBuiltin(t *testing.T) {
	conformance.RunRegistered(t, btl.Default, builtin)
}
