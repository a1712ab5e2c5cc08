package unixsock

import (
	"io"
	"net"
	"net/netip"

	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// A link is one connection, or an attempt at one.
type link struct {
	handoff.Link
	m    *module
	name string // of the peer's socket, if this side connects
	conn net.Conn
}

// A way is the name of a peer's socket.
type way struct{ local, name string }

func (w way) Addresses() (local, remote string) { return w.local, w.name }
func (w way) Describe() string                  { return w.name }

func (m *module) newLink() *link {
	l := &link{m: m}
	l.Init(m.group, m.queue)
	return l
}

// Dial implements [wireup.Transport]: off the loop.
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	l := m.newLink()
	l.ReportTo(p)
	l.name = to.(way).name
	handoff.Fetch(l.Context(), m.group, func() (net.Conn, error) {
		return new(net.Dialer).DialContext(l.Context(), "unix", l.name)
	}, func(conn net.Conn, err error) {
		if err != nil {
			p.Ended(err)
			return
		}
		l.start(conn)
		p.Up()
	}, hangUp)
	return l, nil
}

// visited takes in a connection that somebody has made.
func (m *module) visited(conn net.Conn) {
	l := m.newLink()
	l.ReportTo(m.wire.Came(l, netip.AddrPort{}))
	l.start(conn)
}

// start has the goroutines begin.
func (l *link) start(conn net.Conn) {
	l.conn = conn
	l.Connected(func(bool) { hangUp(conn) }, nil)
	l.Write(0, conn, conn.(*net.UnixConn).CloseWrite)
	l.Read(0, func() (io.Reader, error) { return conn, nil })
}

func hangUp(conn net.Conn) { conn.Close() }

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
