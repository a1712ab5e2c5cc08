package strandquic

import (
	"context"
	"io"
	"net"
	"net/netip"
	"sync/atomic"
	"testing"

	"github.com/quic-go/quic-go"
)

// A detour is a socket that somebody between the ranks has taken over: what goes to one
// address goes to another one, and the answers come from there.
type detour struct {
	net.PacketConn
	meant, taken netip.AddrPort
}

func (d *detour) WriteTo(b []byte, to net.Addr) (int, error) {
	if to.(*net.UDPAddr).AddrPort() == d.meant {
		to = net.UDPAddrFromAddrPort(d.taken)
	}
	return d.PacketConn.WriteTo(b, to)
}

func (d *detour) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := d.PacketConn.ReadFrom(b)
	if err == nil && from.(*net.UDPAddr).AddrPort() == d.taken {
		from = net.UDPAddrFromAddrPort(d.meant)
	}
	return n, from, err
}

// A man in the middle, who has a TLS connection with either side and passes on all that the
// one says to the other, is refused: the proofs are bound to the connection.
func TestManInTheMiddle(t *testing.T) {
	d := new(detour)
	p := newPair(t, func(c net.PacketConn) net.PacketConn { d.PacketConn = c; return d })
	d.meant = netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), p.mods[1].Local.Port)
	passed := middle(t, d)
	p.connect(0)
	p.send(0, "secret")
	p.until("an end", func() bool { return p.recv.Ups+p.recv.Downs > 0 })
	if passed.Load() == 0 {
		t.Fatal("nobody was in the middle")
	}
	if p.recv.Ups > 0 || len(p.hosts[1].Accepted) > 0 {
		t.Fatalf("a man in the middle was believed: %d bytes went through his hands", passed.Load())
	}
	t.Log(p.recv.Err)
}

// middle starts him, and counts what he passes on.
func middle(t *testing.T, d *detour) *atomic.Int64 {
	config, err := newTLS()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := quic.ListenAddr("127.0.0.1:0", config, nil)
	if err != nil {
		t.Fatal(err)
	}
	d.taken = listener.Addr().(*net.UDPAddr).AddrPort()
	ctx, cancel := context.WithCancel(context.Background())
	over := make(chan struct{})
	t.Cleanup(func() { cancel(); listener.Close(); <-over })
	var passed atomic.Int64
	go func() {
		defer close(over)
		for {
			victim, err := listener.Accept(ctx)
			if err != nil {
				return
			}
			other, err := quic.DialAddr(ctx, d.meant.String(), config, nil)
			if err != nil {
				return
			}
			from, err := victim.AcceptStream(ctx)
			if err != nil {
				return
			}
			to, err := other.OpenStream()
			if err != nil {
				return
			}
			go func() {
				n, _ := io.Copy(to, from)
				passed.Add(n)
			}()
			go func() {
				buf := make([]byte, 1<<10)
				for {
					n, err := to.Read(buf)
					passed.Add(int64(n))
					if err != nil {
						_ = victim.CloseWithError(givenUp, "")
						return
					}
					_, _ = from.Write(buf[:n])
				}
			}()
		}
	}()
	return &passed
}
