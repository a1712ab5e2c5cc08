package strandquic

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// Codes with which a connection is closed.
const (
	left    quic.ApplicationErrorCode = iota // in order: what there was to say was said
	givenUp                                  // at once
)

// askAgain is after what time the peer's system is asked again whether anybody listens.
const askAgain = 250 * time.Millisecond

// readSize is how much of a stream is read at a time.
const readSize = 32 << 10

// A link is one connection, or an attempt at one. It belongs to the loop; its goroutines have
// a stream each.
type link struct {
	m       *module
	pending *wireup.Pending // until it is an endpoint's
	ep      *endpoint
	pair    wireup.Pair // of an attempt of ours

	ctx    context.Context // ends when nothing is to be heard any more
	cancel context.CancelFunc
	conn   *quic.Conn

	binding []byte
	bound   *handoff.Bound
	queues  []*handoff.Queue // of our streams; the first is that of both sides
	readers sync.WaitGroup   // until all of the peer's streams have ended
}

var _ wireup.Bound = (*link)(nil)

func (m *module) newLink() *link {
	l := &link{m: m}
	l.ctx, l.cancel = context.WithCancel(m.group.Context())
	return l
}

// Dial implements [wireup.Transport].
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	l := m.newLink()
	l.pending, l.pair = p, to.(wireup.Pair)
	so := m.sockets[l.pair.Local.Addr()]
	target := net.UDPAddrFromAddrPort(l.pair.Target())
	m.group.Go(func() {
		ctx, refuse := context.WithCancelCause(l.ctx)
		defer refuse(nil)
		m.group.Go(func() {
			if err := absent(ctx, target); err != nil {
				refuse(err)
			}
		})
		conn, err := so.Dial(ctx, target, m.tls, m.config)
		var stream *quic.Stream
		if err == nil {
			stream, err = conn.OpenStream()
		}
		if !m.group.Do(l.ctx, func() { l.dialled(conn, stream, err) }) && conn != nil {
			_ = conn.CloseWithError(givenUp, "")
		}
	})
	return l, nil
}

// absent waits for the peer's system to say that nothing listens ([syscall.ECONNREFUSED]): it
// tells that to connected sockets only, and QUIC has none. Any other end says nothing.
func absent(ctx context.Context, target *net.UDPAddr) error {
	udp, err := net.DialUDP("udp", nil, target)
	if err != nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = udp.Close() })()
	defer udp.Close()
	for ctx.Err() == nil {
		_, _ = udp.Write([]byte{0}) // which QUIC passes over
		_ = udp.SetReadDeadline(time.Now().Add(askAgain))
		if _, err := udp.Read(make([]byte, 1)); errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
	}
	return nil
}

func (l *link) dialled(conn *quic.Conn, stream *quic.Stream, err error) {
	if conn != nil {
		err = errors.Join(err, l.begin(conn))
	}
	if err != nil {
		l.pending.Ended(err)
		return
	}
	l.read(func() (io.Reader, error) { return stream, nil }, l.heard)
	l.write(l.queues[0], stream)
	l.pending.Up()
}

// visited takes in a connection that somebody has made. The first stream is there when the
// peer has said something in it.
func (m *module) visited(conn *quic.Conn) {
	l := m.newLink()
	err := l.begin(conn)
	l.pending = m.wire.Came(l, conn.RemoteAddr().(*net.UDPAddr).AddrPort())
	if err != nil {
		l.pending.Ended(err)
		return
	}
	l.read(func() (io.Reader, error) {
		stream, err := conn.AcceptStream(l.ctx)
		if err == nil {
			l.write(l.queues[0], stream)
		}
		return stream, err
	}, l.heard)
}

// begin prepares the link for its connection.
func (l *link) begin(conn *quic.Conn) (err error) {
	l.conn = conn
	l.bound = handoff.NewBound(l.m.group, l.m.queue, l.roomy)
	l.queues = []*handoff.Queue{handoff.NewQueue(l.bound)}
	state := conn.ConnectionState().TLS
	l.binding, err = state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	return err
}

// Binding implements [wireup.Bound].
func (l *link) Binding() []byte { return l.binding }

// read has a goroutine show a stream's bytes to f, in the loop, and go on until the stream's
// end when nobody wants them any more.
func (l *link) read(stream func() (io.Reader, error), f func([]byte, error)) {
	l.readers.Add(1)
	l.m.group.Go(func() {
		defer l.readers.Done()
		s, err := stream()
		if err != nil {
			l.m.group.Do(l.ctx, func() { f(nil, err) })
			return
		}
		l.m.group.Read(l.ctx, s, readSize, f)
		_, _ = io.Copy(io.Discard, s)
	})
}

// write has a goroutine write to a stream what is in a queue.
func (l *link) write(q *handoff.Queue, stream io.WriteCloser) {
	l.m.group.Go(func() {
		switch err := q.Write(stream); {
		case err == nil:
			_ = stream.Close() // if it does not arrive the reader will say so
		case !errors.Is(err, btl.ErrClosed):
			l.m.group.Do(l.ctx, func() { l.ended(err) })
		}
	})
}

// heard takes bytes of the first stream.
func (l *link) heard(b []byte, err error) {
	if l.ep == nil {
		b = l.pending.Take(b)
	}
	switch {
	case l.ctx.Err() != nil:
	case l.ep != nil:
		l.ep.arrived(&l.ep.lanes[0], b, err)
	case err != nil:
		l.ended(err)
	}
}

// ended: the connection is broken, or the peer has closed it.
func (l *link) ended(err error) {
	if e, ok := errors.AsType[*quic.ApplicationError](err); ok && e.Remote && e.ErrorCode == left {
		err = btl.ErrPeerClosed
	}
	if l.ep != nil {
		l.ep.Malformed(err)
		return
	}
	l.pending.Ended(err)
}

func (l *link) roomy() {
	if l.ep != nil && l.ep.Live() {
		l.ep.Ready()
	}
}

// Send implements [wireup.Link].
func (l *link) Send(b []byte) error {
	l.queues[0].Say(b)
	return nil
}

// Abort implements [wireup.Link].
func (l *link) Abort() {
	l.cancel()
	for _, q := range l.queues {
		q.Cut()
	}
	if conn := l.conn; conn != nil {
		l.m.group.Go(func() { _ = conn.CloseWithError(givenUp, "") })
	}
}

// Leave implements [wireup.Link]: the connection is closed when the peer has done so, or has
// nothing to say either, or time is up.
func (l *link) Leave(b []byte) {
	l.queues[0].Say(b)
	for _, q := range l.queues {
		if l.ep != nil {
			q.Say(framing.AppendGoodbye(nil))
		}
		q.End()
	}
	l.cancel()
	quiet := make(chan struct{})
	l.m.group.Go(func() { l.readers.Wait(); close(quiet) })
	l.m.group.Go(func() {
		limit, cancel := context.WithTimeout(l.m.late, lingers)
		defer cancel()
		select {
		case <-quiet:
		case <-l.conn.Context().Done():
		case <-limit.Done():
		}
		_ = l.conn.CloseWithError(left, "")
		for _, q := range l.queues {
			q.Cut()
		}
	})
}

// Addresses implements [wireup.Link].
func (l *link) Addresses() (local, remote string) {
	if l.conn == nil {
		return l.pair.Addresses()
	}
	return l.conn.LocalAddr().String(), l.conn.RemoteAddr().String()
}

// Target implements [wireup.Link].
func (l *link) Target() netip.AddrPort { return l.pair.Target() }
