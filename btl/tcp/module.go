package tcp

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// module is TCP over all selected interfaces of a process.
type module struct {
	wireup.Base
	loop btl.Loop
	cfg  config

	listeners []*listener
	preset    string // the congestion control that the system gives to new sockets
	closed    bool

	vector  rawio.Vector    // one for all endpoints: sending is serial under the lock
	vectors []*rawio.Vector // for sending without it
	scratch []byte          // for handshakes, and for bytes that are thrown away
	buffers lender          // of connections
	burst   btl.Burst       // what all endpoints send without a pause
	straits straits         // where long packets are lost
}

var _ wireup.Transport = (*module)(nil)

// NewEndpoint implements [wireup.Transport].
func (m *module) NewEndpoint() wireup.Endpoint { return &endpoint{m: m} }

// Linger implements [wireup.Transport]. It waits a millisecond only: an acknowledgement makes no
// descriptor readable, so it would not end a longer wait.
func (m *module) Linger() {
	var fds []int
	for _, l := range m.Wire.Leaving() {
		fds = append(fds, l.(*linger).conn.FD())
	}
	rawio.WaitAny(fds, 1)
}

// Close implements [btl.Module]. In the end it waits a little for the peers' systems
// to confirm the goodbyes.
func (m *module) Close() error {
	if m.closed {
		return nil
	}
	m.closed = true
	for _, l := range m.listeners {
		l.close()
	}
	m.Wire.Close()
	m.buffers.close()
	return nil
}
