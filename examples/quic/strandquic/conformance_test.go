package strandquic

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/wireup"
)

func subject() conformance.Subject {
	return conformance.Subject{
		Component: Component{},
		Settings: []param.Setting{
			{Name: prefix + "if_include", Text: "lo"},
			// A case makes 56 connections at once, each with its keys, and may have a part of one processor for them.
			{Name: prefix + "connect_timeout", Text: "1m"},
			{Name: prefix + "handshake_timeout", Text: "1m"},
		},
		Wire:   wire,
		Sever:  sever,
		Inject: inject,
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, subject) }

// On one processor the goroutines of QUIC run when the loop lets them.
func TestConformanceOnOneProcessor(t *testing.T) {
	if os.Getenv("STRANDTEST_CI") != "1" {
		t.Skip("runs in CI (STRANDTEST_CI=1): it is the whole suite once more")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	conformance.Run(t, subject)
}

// wire connects as a stranger, who has nothing but a socket.
func wire(address []byte) (io.WriteCloser, error) {
	a, err := wireup.Decode(address)
	if err != nil {
		return nil, err
	}
	return net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", a.Port))
}

// sever cuts a connection without a goodbye.
func sever(ep btl.Endpoint) error {
	return ep.(*endpoint).Link().(*link).conn.CloseWithError(0x77, "severed")
}

// inject sends nonsense to the peer behind the endpoint's back.
func inject(ep btl.Endpoint, b []byte) error {
	return ep.(*endpoint).Link().(*link).Send(b)
}
