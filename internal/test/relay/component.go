package relay

import (
	"fmt"
	"net"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// New makes a relay, and the transports of a job that goes through it. The test imports strand, so tcp is there.
// Close the relay when the job is over.
func New(plan Plan) (*Relay, *btl.Registry) {
	r := &Relay{plan: plan, released: make(chan struct{})}
	transports := new(btl.Registry)
	transports.Register(component{btl.Default.Lookup("tcp"), r})
	return r, transports
}

// component is tcp with a relay before each port.
type component struct {
	btl.Component
	relay *Relay
}

// publisher is a module that can say anew where it listens ([wireup.Base]).
type publisher interface {
	btl.Module
	Publish(before []byte, port uint16, used []reach.Address)
}

// Open implements [btl.Component].
func (c component) Open(h btl.Host) ([]btl.Module, error) {
	all, err := c.Component.Open(h)
	if err != nil {
		return nil, err
	}
	m := all[0].(publisher)
	a, err := wireup.Decode(m.Address())
	if err != nil {
		return nil, err
	}
	if len(a.Interfaces) != 1 {
		return nil, fmt.Errorf("relay: tcp listens at %s: it has to be one address, the loopback's (btl_tcp_if_include)", wireup.Describe(a.Interfaces))
	}
	port, err := c.relay.open(&net.TCPAddr{IP: a.Interfaces[0].Addr().AsSlice(), Port: int(a.Port)})
	if err != nil {
		return nil, err
	}
	m.Publish(nil, uint16(port), a.Interfaces)
	return all, nil
}
