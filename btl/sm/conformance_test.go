//go:build linux

package sm

import (
	"encoding/binary"
	"io"
	"net"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/conformance"
	"github.com/strandmp/strand/param"
)

func subject() conformance.Subject {
	return conformance.Subject{
		Component: Component{},
		Settings:  []param.Setting{{Name: pConnectTimeout, Text: "10s", Source: param.Source{Kind: param.Option, Where: "test"}}},
		Wire:      wire,
		Inject:    inject,
		Sever:     sever,
	}
}

func TestConformance(t *testing.T) { conformance.Run(t, subject) }

// wire connects as a stranger.
func wire(address []byte) (io.WriteCloser, error) {
	name, err := nameIn(address)
	if err != nil {
		return nil, err
	}
	return net.Dial("unix", "@"+name)
}

// sever cuts a connection as the kernel does when a process is killed.
func sever(ep btl.Endpoint) error { return unix.Shutdown(ep.(*endpoint).pipe.fd, unix.SHUT_RDWR) }

// inject writes nonsense into the ring, behind the endpoint's back.
func inject(ep btl.Endpoint, b []byte) error {
	p := ep.(*endpoint).pipe
	b = append(make([]byte, 0, slotSize), b[:min(len(b), slotSize)]...)
	b = b[:slotSize]
	word := binary.NativeEndian.Uint64(b)%oneTurn | p.out.turn // without the turn it would be none
	copy(p.out.slots[p.out.slot:], b)
	at(p.out.slots, p.out.slot).Store(word)
	p.wake(sleeps)
	return nil
}
