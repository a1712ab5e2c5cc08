package tcp_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/tcp"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/internal/test/need"
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

// Encrypted, the cases that have to do with what records hold, and in CI those with how frames travel and connections end too;
// all of them in a long run.
func TestConformanceEncrypted(t *testing.T) {
	encrypted := func() conformance.Subject {
		s := subject()
		s.Settings = append(s.Settings, param.Setting{Name: "btl_tcp_encrypt", Text: "true", Source: param.Source{Kind: param.Option, Where: "test"}})
		return s
	}
	var opts []conformance.Option
	if !need.Soaking() {
		cases := []string{"sizes", "vectors", "stutter", "revoke", "late-bytes", "damage", "exactly-once"}
		if need.Thorough() {
			cases = append(cases, "released", "recall", "refusal", "goodbye", "close-busy", "peer-dies-sending", "leak-memory", "connect-both")
		}
		opts = append(opts, conformance.Only(cases...))
	}
	conformance.Run(t, encrypted, opts...)
}

// A long frame over TCP can be made to stall in the middle, so that the cases
// about late bytes have something to test.
func TestLateBytesApply(t *testing.T) {
	for _, r := range conformance.Check(t.Context(), subject, conformance.Only("late-bytes", "late-end")).Results {
		require.Equal(t, conformance.Passed, r.Status, "%s: %s %v", r.Case, r.Reason, r.Err())
	}
}
