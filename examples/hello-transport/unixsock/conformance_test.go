package unixsock

import (
	"io"
	"net"
	"testing"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
)

func TestConformance(t *testing.T) {
	conformance.Run(t, func() conformance.Subject {
		return conformance.Subject{
			Component: Component{},
			Settings:  []param.Setting{{Name: pTimeout, Text: "10s"}},
			Wire:      wire,
			Sever:     sever,
			Inject:    inject,
		}
	})
}

// wire connects as a stranger.
func wire(address []byte) (io.WriteCloser, error) {
	home, err := home()
	if err != nil {
		return nil, err
	}
	name, err := (&module{home: home}).socket(address)
	if err != nil {
		return nil, err
	}
	return net.Dial("unix", name)
}

// sever cuts a connection without a word.
func sever(ep btl.Endpoint) error { return ep.(*endpoint).Link().(*link).conn.Close() }

// inject sends nonsense to the peer behind the endpoint's back.
func inject(ep btl.Endpoint, b []byte) error {
	_, err := ep.(*endpoint).Link().(*link).conn.Write(b)
	return err
}
