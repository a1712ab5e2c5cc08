package tcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/tcp"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
)

func subject() conformance.Subject {
	short := func(name, text string) param.Setting {
		return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option, Where: "test"}}
	}
	return conformance.Subject{
		Component: tcp.Component{},
		Settings: []param.Setting{
			short("btl_tcp_connect_timeout", "10s"),
			short("btl_tcp_handshake_timeout", "10s"),
		},
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, subject) }

// A long frame over TCP can be made to stall in the middle, so that the cases
// about late bytes have something to test.
func TestLateBytesApply(t *testing.T) {
	for _, r := range conformance.Check(t.Context(), subject, conformance.Only("late-bytes", "late-end")).Results {
		require.Equal(t, conformance.Passed, r.Status, "%s: %s %v", r.Case, r.Reason, r.Err())
	}
}
