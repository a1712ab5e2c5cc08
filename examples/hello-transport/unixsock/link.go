package unixsock

import (
	"context"
	"io"
	"net"
	"net/netip"
	"time"

	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// A link is one connection, or an attempt at one. It belongs to the loop; one goroutine
// reads, and one writes what is in the queue.
type link struct {
	m       *module
	pending *wireup.Pending // until it is an endpoint's
	ep      *endpoint
	name    string // of the peer's socket, if this side connects
	conn    *net.UnixConn
	out     *handoff.Queue

	ctx    context.Context // ends when nothing is to be heard any more
	cancel context.CancelFunc
}

// A way is the name of a peer's socket.
type way struct{ local, name string }

func (w way) Addresses() (local, remote string) { return w.local, w.name }
func (w way) Describe() string                  { return w.name }

// readSize is how much is read at a time, in bytes.
const readSize = 32 << 10

func (m *module) newLink() *link {
	l := &link{m: m}
	l.ctx, l.cancel = context.WithCancel(m.group.Context())
	l.out = handoff.NewQueue(handoff.NewBound(m.group, int(m.host.Params().Size(pQueue)), l.roomy))
	return l
}

// Dial implements [wireup.Transport]: off the loop.
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	l := m.newLink()
	l.pending, l.name = p, to.(way).name
	m.group.Go(func() {
		conn, err := new(net.Dialer).DialContext(l.ctx, "unix", l.name)
		if !m.group.Do(l.ctx, func() { l.dialled(conn, err) }) && err == nil {
			conn.Close()
		}
	})
	return l, nil
}

func (l *link) dialled(conn net.Conn, err error) {
	if err != nil {
		l.pending.Ended(err)
		return
	}
	l.start(conn)
	l.pending.Up()
}

// visited takes in a connection that somebody has made.
func (m *module) visited(conn net.Conn) {
	l := m.newLink()
	l.start(conn)
	l.pending = m.wire.Came(l, netip.AddrPort{})
}

// start has the goroutines begin. If the connection breaks the one that reads will say so,
// after all that has still come; it closes the connection in the end.
func (l *link) start(conn net.Conn) {
	l.conn = conn.(*net.UnixConn)
	l.m.group.Go(func() {
		_ = l.out.Write(l.conn)
		_ = l.conn.CloseWrite() // the peer may be gone
	})
	l.m.group.Go(func() {
		l.m.group.Read(l.ctx, l.conn, readSize, l.heard)
		_, _ = io.Copy(io.Discard, l.conn)
		l.conn.Close()
	})
}

// heard takes what has been read: of the handshake, then frames.
func (l *link) heard(b []byte, err error) {
	if l.ep == nil {
		b = l.pending.Take(b)
	}
	switch {
	case l.ctx.Err() != nil:
	case l.ep != nil:
		l.ep.arrived(b, err)
	case err != nil:
		l.pending.Ended(err)
	}
}

func (l *link) roomy() {
	if l.ep != nil && l.ep.Live() {
		l.ep.Ready()
	}
}

// Send implements [wireup.Link].
func (l *link) Send(b []byte) error {
	l.out.Say(b)
	return nil
}

// Abort implements [wireup.Link].
func (l *link) Abort() {
	l.cancel()
	l.out.Cut()
	if l.conn != nil {
		l.conn.Close()
	}
}

// Leave implements [wireup.Link]: what is queued is sent, and the connection closed when the
// peer has done so, or when the farewell is over.
func (l *link) Leave(b []byte) {
	l.out.Say(b)
	l.out.End()
	l.cancel()
	_ = l.conn.SetDeadline(time.Now().Add(farewell))
}

// Addresses implements [wireup.Link].
func (l *link) Addresses() (local, remote string) {
	remote = l.name
	if remote == "" {
		remote = "a process of this host"
	}
	return l.m.listener.Addr().String(), remote
}

// Target implements [wireup.Link]: no address of IP.
func (l *link) Target() netip.AddrPort { return netip.AddrPort{} }
