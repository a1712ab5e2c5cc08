package unixsock

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// A link is one connection, or an attempt at one. It belongs to the loop, but for what its
// two goroutines are given.
type link struct {
	m       *module
	pending *wireup.Pending // until it is an endpoint's
	ep      *endpoint
	of      atomic.Pointer[endpoint] // the same, for the writer
	name    string                   // of the peer's socket, if this side connects
	cancel  context.CancelFunc
	conn    net.Conn
	ended   bool          // nothing is sent any more
	want    chan int      // how many bytes of the handshake are to be read; closed when frames follow
	out     chan []byte   // what is to be written
	over    chan struct{} // closed when nothing is to be delivered any more
}

// A way is the name of a peer's socket.
type way struct{ local, name string }

func (w way) Addresses() (local, remote string) { return w.local, w.name }
func (w way) Describe() string                  { return w.name }

// handshakes is how many messages a handshake has at most, besides the frames in a queue.
const handshakes = 4

func (m *module) newLink() *link {
	return &link{m: m, want: make(chan int, 1), over: make(chan struct{}),
		out: make(chan []byte, m.host.Params().Int(pQueue)+handshakes)}
}

// Dial implements [wireup.Transport]: off the loop.
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	l := m.newLink()
	l.pending, l.name = p, to.(way).name
	var ctx context.Context
	ctx, l.cancel = context.WithCancel(m.ending)
	m.running.Go(func() {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", l.name)
		if err == nil && !m.conns.add(conn) {
			conn, err = nil, btl.ErrClosed
		}
		m.host.Loop().Post(func() { l.dialled(conn, err) })
	})
	return l, nil
}

func (l *link) dialled(conn net.Conn, err error) {
	switch {
	case l.ended:
		if conn != nil {
			l.m.conns.drop(conn)
		}
	case err != nil:
		l.pending.Ended(err)
	default:
		l.start(conn)
		l.pending.Up()
		l.listen()
	}
}

// visited takes in a connection that somebody has made.
func (m *module) visited(conn net.Conn) {
	if m.closed {
		m.conns.drop(conn)
		return
	}
	l := m.newLink()
	l.start(conn)
	l.pending = m.wire.Came(l, netip.AddrPort{})
	l.listen()
}

// start has the goroutines begin.
func (l *link) start(conn net.Conn) {
	l.conn = conn
	l.m.writers.Go(func() { l.write(conn) })
	l.m.running.Go(func() { l.read(conn) })
}

// listen has more of the handshake read.
func (l *link) listen() {
	if !l.ended && l.ep == nil {
		l.want <- l.pending.Need()
	}
}

// heard takes bytes of the handshake.
func (l *link) heard(b []byte, err error) {
	switch {
	case l.ended || l.ep != nil:
	case err != nil:
		l.pending.Ended(err)
	default:
		l.pending.Bytes(b)
		l.listen()
	}
}

// Send implements [wireup.Link].
func (l *link) Send(b []byte) error {
	l.out <- append([]byte(nil), b...) // there is room for all messages of a handshake
	return nil
}

// Abort implements [wireup.Link].
func (l *link) Abort() {
	l.end()
	if l.conn != nil {
		l.m.conns.drop(l.conn)
	}
}

// Leave implements [wireup.Link]: the writer sends what is queued, and the reader closes the
// connection when the peer has, or when the farewell is over.
func (l *link) Leave(b []byte) {
	if len(b) > 0 {
		_ = l.Send(b)
	}
	_ = l.conn.SetDeadline(time.Now().Add(farewell))
	l.end()
}

// end has the goroutines come to their end.
func (l *link) end() {
	if l.ended {
		return
	}
	l.ended = true
	if l.cancel != nil {
		l.cancel()
	}
	if l.ep == nil {
		close(l.want)
	}
	close(l.over)
	close(l.out)
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

// write is the goroutine that writes. If the connection breaks the reader will say so, after
// all that has still come.
func (l *link) write(conn net.Conn) {
	var err error
	for b := range l.out {
		if err == nil {
			_, err = conn.Write(b)
		}
		if l.waiting() {
			l.m.host.Loop().Post(l.roomy)
		}
	}
	if c, ok := conn.(*net.UnixConn); ok {
		_ = c.CloseWrite() // the peer may be gone
	}
}

// read is the goroutine that reads: the handshake as the loop wants it, then frames. It
// closes the connection in the end.
func (l *link) read(conn net.Conn) {
	defer l.m.conns.drop(conn)
	r := bufio.NewReaderSize(conn, 16<<10)
	loop := l.m.host.Loop()
	for n := range l.want {
		b := make([]byte, n)
		got, err := r.Read(b)
		loop.Post(func() { l.heard(b[:got], err) })
	}
	buf := make([]byte, btl.MaxHeader+maxFrame)
	delivered := make(chan struct{}, 1)
	for {
		header, payload, err := readFrame(r, buf)
		loop.Post(func() {
			if l.ep != nil && !l.ended {
				l.ep.arrived(header, payload, err)
			}
			delivered <- struct{}{}
		})
		if err != nil {
			return
		}
		select {
		case <-delivered:
		case <-l.over:
			// Until the peer has closed it too, or the farewell is over, the connection is
			// the writer's.
			_, _ = io.Copy(io.Discard, r)
			return
		}
	}
}
