package strandquic

import (
	"bytes"
	"context"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quic-go/quic-go"
)

// A mute shows its address, and soon falls silent.
type mute struct {
	net.PacketConn
	half          bool // says one packet of its hello, not all
	shown, silent atomic.Bool
	told          sync.Once
	quiet         *sync.WaitGroup
}

func (d *mute) fallSilent() {
	d.silent.Store(true)
	d.told.Do(d.quiet.Done)
}

// ReadFrom implements [net.PacketConn].
func (d *mute) ReadFrom(b []byte) (int, net.Addr, error) {
	n, from, err := d.PacketConn.ReadFrom(b)
	if err == nil && d.shown.Load() {
		d.fallSilent()
	}
	return n, from, err
}

// WriteTo implements [net.PacketConn].
func (d *mute) WriteTo(b []byte, to net.Addr) (int, error) {
	if d.silent.Load() {
		return len(b), nil
	}
	if showsAddress(b) {
		d.shown.Store(true)
		if d.half {
			defer d.fallSilent()
		}
	}
	return d.PacketConn.WriteTo(b, to)
}

// showsAddress reports whether a packet is an Initial with a token (RFC 9000, section 17.2.2).
func showsAddress(b []byte) bool {
	if len(b) < 64 || b[0]&0xb0 != 0x80 {
		return false
	}
	source := 6 + int(b[5])
	return b[source+1+int(b[source])] != 0
}

// crowd counts the connections that listeners of this process have, whoever knows of them.
func crowd() int {
	stacks := make([]byte, 8<<20)
	return bytes.Count(stacks[:runtime.Stack(stacks, true)], []byte("created by github.com/quic-go/quic-go.(*baseServer)"))
}

// Strangers who show an address, and fall silent before TLS is done, are bounded. A member gets in.
func TestSilentStrangersAreBounded(t *testing.T) {
	for name, half := range map[string]bool{"half a hello": true, "no answer to ours": false} {
		t.Run(name, func(t *testing.T) {
			const many = 128
			p := newPair(t, func(c net.PacketConn) net.PacketConn { return c })
			config, err := newTLS()
			if err != nil {
				t.Fatal(err)
			}
			to := &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: int(p.mods[1].Local.Port)}
			ctx, end := context.WithCancel(t.Context())
			var all, quiet sync.WaitGroup
			quiet.Add(many)
			defer all.Wait()
			defer end()
			var refused atomic.Int64
			mutes := make([]*mute, many)
			for i := range mutes {
				udp, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 9)})
				if err != nil {
					t.Fatal(err)
				}
				mutes[i] = &mute{PacketConn: udp, half: half, quiet: &quiet}
				all.Go(func() {
					defer udp.Close()
					socket := quic.Transport{Conn: mutes[i]}
					defer socket.Close()
					if _, err := socket.Dial(ctx, to, config, &quic.Config{HandshakeIdleTimeout: 2 * time.Second}); err != nil && ctx.Err() == nil {
						refused.Add(1)
						mutes[i].fallSilent()
					}
				})
			}
			quiet.Wait()
			most := crowd()
			p.connect(1)
			p.until("a member's frame", func() bool { return len(p.arrived()) == 1 })
			most = max(most, crowd())
			t.Logf("%d connections at most, %d strangers were refused", most, refused.Load())
			// Half of the places at the door, and those of package wireup or on the way there.
			places := p.mods[1].Wire.Most()
			if bound := places/2 + places; most > bound {
				t.Errorf("%d connections were kept for %d strangers, more than %d", most, many, bound)
			}
		})
	}
}
