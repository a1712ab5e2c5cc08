package tcp_test

import (
	"testing"

	"github.com/strandmp/strand/btl/tcp"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
)

func TestConformance(t *testing.T) {
	short := func(name, text string) param.Setting {
		return param.Setting{Name: name, Text: text, Source: param.Source{Kind: param.Option, Where: "test"}}
	}
	conformance.Run(t, func() conformance.Subject {
		return conformance.Subject{
			Component: tcp.Component{},
			Settings: []param.Setting{
				short("btl_tcp_connect_timeout", "2s"),
				short("btl_tcp_handshake_timeout", "2s"),
			},
		}
	})
}
