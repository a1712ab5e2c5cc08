package strandquic

import (
	"context"
	"errors"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// Codes with which a connection is closed.
const (
	left    quic.ApplicationErrorCode = iota // in order: what there was to say was said
	givenUp                                  // at once
)

// askAgain is the time between two questions to the peer's system whether anybody listens.
const askAgain = 250 * time.Millisecond

// knockAgain is the time until one who was refused for want of room tries again.
const knockAgain = 20 * time.Millisecond

// A link is one connection, or an attempt at one.
type link struct {
	handoff.Link
	m       *module
	pair    wireup.Pair // of an attempt of ours
	conn    *quic.Conn
	binding []byte
	heard   context.CancelFunc // of an attempt of ours: the peer's process has answered
}

var _ wireup.Bound = (*link)(nil)

func (m *module) newLink() *link {
	l := &link{m: m}
	l.Init(m.group, m.queue)
	return l
}

// Dial implements [wireup.Transport].
func (m *module) Dial(p *wireup.Pending, to wireup.Way) (wireup.Link, error) {
	l := m.newLink()
	l.ReportTo(p)
	l.pair = to.(wireup.Pair)
	so, target := m.sockets[l.pair.Local.Addr()], net.UDPAddrFromAddrPort(l.pair.Target())
	// QUIC says that it is connected before the peer's process has looked at us, and that may go meanwhile.
	knocking, refuse := context.WithCancelCause(l.Context())
	var unheard context.Context
	unheard, l.heard = context.WithCancel(l.Context())
	m.group.Go(func() {
		if err := absent(unheard, target); err != nil {
			refuse(err)
			m.group.Do(unheard, func() { l.Ended(err) })
		}
	})
	handoff.Fetch(l.Context(), m.group, func() (*quic.Conn, error) {
		return m.knock(knocking, so, target)
	}, func(conn *quic.Conn, err error) {
		var stream *quic.Stream
		if err == nil {
			l.begin(conn)
			err = l.bind()
		}
		if err == nil {
			stream, err = conn.OpenStream()
		}
		if err != nil {
			p.Ended(err)
			return
		}
		l.Read(0, func() (io.Reader, error) { return stream, nil })
		l.Write(0, stream, stream.Close)
		p.Up()
	}, giveUp)
	return l, nil
}

// knock dials until there is room for the handshake at the peer's door, or ctx ends.
func (m *module) knock(ctx context.Context, so *socket, target net.Addr) (*quic.Conn, error) {
	for {
		conn, err := so.Dial(ctx, target, m.tls, m.config)
		if refused, ok := errors.AsType[*quic.TransportError](err); !ok || refused.ErrorCode != quic.ConnectionRefused {
			return conn, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(knockAgain):
		}
	}
}

// absent waits for the peer's system to say that nothing listens ([syscall.ECONNREFUSED]). Only a
// connected socket is told that, and QUIC's are not connected. Absent returns nil if ctx ends first,
// or if asking fails in another way.
func absent(ctx context.Context, target *net.UDPAddr) error {
	udp, err := net.DialUDP("udp", nil, target)
	if err != nil {
		return nil
	}
	defer context.AfterFunc(ctx, func() { _ = udp.Close() })()
	defer udp.Close()
	for ctx.Err() == nil {
		_, _ = udp.Write([]byte{0}) // QUIC ignores such a packet
		_ = udp.SetReadDeadline(time.Now().Add(askAgain))
		if _, err := udp.Read(make([]byte, 1)); errors.Is(err, syscall.ECONNREFUSED) {
			return err
		}
	}
	return nil
}

// visited takes in a connection that somebody makes. The first stream is there when TLS is done and the
// peer has said something in it.
func (m *module) visited(conn *quic.Conn) {
	l := m.newLink()
	l.begin(conn)
	l.ReportTo(m.Wire.Came(l, conn.RemoteAddr().(*net.UDPAddr).AddrPort()))
	l.Read(0, func() (io.Reader, error) {
		stream, err := conn.AcceptStream(l.Context())
		if err == nil {
			err = l.bind()
		}
		if err == nil {
			l.Write(0, stream, stream.Close)
		}
		return stream, err
	})
}

// begin prepares the link for its connection.
func (l *link) begin(conn *quic.Conn) {
	l.conn = conn
	l.Connected(func(inOrder bool) {
		code := givenUp
		if inOrder {
			code = left
		}
		_ = conn.CloseWithError(code, "")
	}, explain)
}

// bind takes the bytes that only the two ends of the connection can know, once TLS is done.
func (l *link) bind() (err error) {
	state := l.conn.ConnectionState().TLS
	l.binding, err = state.ExportKeyingMaterial("EXPORTER-Channel-Binding", nil, 32)
	return err
}

func giveUp(conn *quic.Conn) { _ = conn.CloseWithError(givenUp, "") }

// explain translates the code of an orderly end, so that it is told from a failure.
func explain(err error) error {
	if e, ok := errors.AsType[*quic.ApplicationError](err); ok && e.Remote && e.ErrorCode == left {
		return btl.ErrPeerClosed
	}
	return err
}

// Binding implements [wireup.Bound].
func (l *link) Binding() []byte { return l.binding }

// Addresses implements [wireup.Link].
func (l *link) Addresses() (local, remote string) {
	if l.conn == nil {
		return l.pair.Addresses()
	}
	return l.conn.LocalAddr().String(), l.conn.RemoteAddr().String()
}

// Target implements [wireup.Link].
func (l *link) Target() netip.AddrPort { return l.pair.Target() }
