package sctp

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"

	"github.com/pion/logging"
	"github.com/pion/sctp"
	"github.com/stretchr/testify/require"
)

// BenchmarkRaw is pion/sctp alone: two associations over two connected sockets of
// UDP, with the same packet size and buffers, as its own examples use it.
// BenchmarkTransport is this transport between two modules.

var benchSizes = []int{8, 64 << 10}

func BenchmarkRaw(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("pingpong/%d", size), func(b *testing.B) { rawPingPong(b, size) })
	}
	b.Run("oneway/65536", func(b *testing.B) { rawOneWay(b, 64<<10) })
}

func BenchmarkTransport(b *testing.B) {
	for _, size := range benchSizes {
		b.Run(fmt.Sprintf("pingpong/%d", size), func(b *testing.B) { pingPong(b, size) })
	}
	b.Run("oneway/65536", func(b *testing.B) { oneWay(b, 64<<10) })
}

// rawPair connects two streams of pion's.
func rawPair(b *testing.B) (*sctp.Stream, *sctp.Stream) {
	listen := func() *net.UDPConn {
		c, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
		require.NoError(b, err)
		return c
	}
	connect := func(local, remote *net.UDPConn) *net.UDPConn {
		from, to := local.LocalAddr().(*net.UDPAddr), remote.LocalAddr().(*net.UDPAddr)
		require.NoError(b, local.Close())
		c, err := net.DialUDP("udp4", from, to)
		require.NoError(b, err)
		require.NoError(b, c.SetReadBuffer(4<<20))
		require.NoError(b, c.SetWriteBuffer(4<<20))
		return c
	}
	la, lb := listen(), listen()
	ca := connect(la, lb)
	cb := connect(lb, ca)
	opts := func(c net.Conn) []sctp.AssociationOption {
		return []sctp.AssociationOption{sctp.WithNetConn(c), sctp.WithMTU(8192), sctp.WithMaxReceiveBufferSize(4 << 20), sctp.WithMaxMessageSize(1 << 20),
			sctp.WithLoggerFactory(&logging.DefaultLoggerFactory{Writer: io.Discard, DefaultLogLevel: logging.LogLevelDisabled})}
	}
	var server *sctp.Association
	done := make(chan error, 1)
	go func() {
		var so []sctp.ServerOption
		for _, o := range opts(cb) {
			so = append(so, o)
		}
		var err error
		server, err = sctp.ServerWithOptions(so...)
		done <- err
	}()
	var co []sctp.ClientOption
	for _, o := range opts(ca) {
		co = append(co, o)
	}
	client, err := sctp.ClientContext(context.Background(), co...)
	require.NoError(b, err)
	require.NoError(b, <-done)
	b.Cleanup(func() { _, _ = client.Close(), server.Close() })
	s, err := client.OpenStream(1, 0)
	require.NoError(b, err)
	p, err := server.OpenStream(1, 0)
	require.NoError(b, err)
	return s, p
}

func rawPingPong(b *testing.B, size int) {
	s, p := rawPair(b)
	message, in := make([]byte, size), make([]byte, 1<<20)
	go func() {
		buf := make([]byte, 1<<20)
		for {
			n, err := p.Read(buf)
			if err != nil {
				return
			}
			if _, err := p.Write(buf[:n]); err != nil {
				return
			}
		}
	}()
	b.ReportAllocs()
	for b.Loop() {
		_, err := s.Write(message)
		require.NoError(b, err)
		_, err = s.Read(in)
		require.NoError(b, err)
	}
}

func rawOneWay(b *testing.B, size int) {
	s, p := rawPair(b)
	message := make([]byte, size)
	done := make(chan struct{})
	total := b.N
	go func() {
		defer close(done)
		buf := make([]byte, 1<<20)
		for range total {
			if _, err := p.Read(buf); err != nil {
				return
			}
		}
	}()
	// As much under way as the transport has, woken when there is room.
	room := make(chan struct{}, 1)
	s.SetBufferedAmountLowThreshold(768 << 10)
	s.OnBufferedAmountLow(func() {
		select {
		case room <- struct{}{}:
		default:
		}
	})
	b.SetBytes(int64(size))
	b.ResetTimer()
	for range total {
		if _, err := s.Write(message); err != nil {
			b.Fatal(err)
		}
		for s.BufferedAmount() > 1<<20 {
			<-room
		}
	}
	<-done
}

// counter counts frames and throws them away.
type counter struct {
	node
	n int
}

func (c *counter) Deliver(_, _ []byte) error { c.n++; return nil }

func benchPair(b *testing.B) (*node, *node, *counter, *counter) {
	n, m := newNode(b, 0), newNode(b, 1)
	join(b, n, m)
	await(b, "the first frame", func() bool { return m.ep.(*endpoint).counters.FramesReceived+1 > 0 && n.ups > 0 }, n, m)
	n.send("one", 0, m)
	await(b, "a frame", func() bool { return len(m.frames) > 0 }, n, m)
	c, d := &counter{node: node{t: b}}, &counter{node: node{t: b}}
	n.ep.(*endpoint).Recv, m.ep.(*endpoint).Recv = c, d
	return n, m, c, d
}

func pingPong(b *testing.B, size int) {
	n, m, c, d := benchPair(b)
	f := frame(string(make([]byte, size)))
	p, q := n.ep.(*endpoint), m.ep.(*endpoint)
	b.ReportAllocs()
	for b.Loop() {
		p.Send(f, 0)
		for have := d.n; d.n == have; {
			n.mod.Progress()
			q.Poll()
			p.Poll()
		}
		q.Send(f, 0)
		for have := c.n; c.n == have; {
			m.mod.Progress()
			p.Poll()
			q.Poll()
		}
	}
}

func oneWay(b *testing.B, size int) {
	n, m, _, d := benchPair(b)
	f := frame(string(make([]byte, size)))
	b.SetBytes(int64(size))
	b.ResetTimer()
	for sent := 0; d.n < b.N; {
		if sent < b.N && taken(n.ep.Send(f, sent%10)) {
			sent++
		}
		n.ep.(*endpoint).Poll()
		m.ep.(*endpoint).Poll()
	}
}
