//go:build unix

package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// stillHost is a node in which nothing happens by itself.
type stillHost struct {
	*node
	loop btltest.Loop
}

func (h *stillHost) Loop() btl.Loop { return &h.loop }

// still makes a connected endpoint whose peer is the descriptor returned.
func still(t testing.TB) (*peer, int) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		require.NoError(t, unix.SetNonblock(fd, true))
	}
	host := &stillHost{node: &node{t: t, rank: 0, size: 2, peers: map[int]*peer{}}}
	m := newModule(host, config{})
	m.Use(host, wireup.NewLocal(host, "tcp", new(wireup.Settings), reach.Side{}, nil), m, m.wiring())
	p := host.newPeer(1)
	ep, err := m.Connect(btl.Peer{Rank: 1, Host: "peer"}, btl.Path{Private: wireup.Pair{}}, p)
	require.NoError(t, err)
	p.ep = ep.(*endpoint)
	p.ep.Establish(&talk{m: m, conn: rawio.NewConn(fds[0])}, nil, 1, wireup.Greeting{MaxFrame: 64 << 10})
	return p, fds[1]
}

// FuzzStream: a peer may send anything after the handshake, in any portions. Each
// Begin has one End or Drop, nothing comes after Down, and no frame is larger than the
// peer has announced.
func FuzzStream(f *testing.F) {
	good := make([]byte, framing.PrefixSize, 200)
	framing.Prefix{Payload: 3, Header: 2}.Put(good)
	good = append(good, "hhppp"...)
	f.Add(good, uint16(100))
	long := make([]byte, framing.PrefixSize+1+9000)
	framing.Prefix{Payload: 9000, Header: 1}.Put(long)
	f.Add(append(long, good...), uint16(77))
	f.Add(append(append([]byte{}, good...), "\x00\x00\x00\x00\x00\x02\x00\x00"...), uint16(5))
	f.Add([]byte("\xff\xff\xff\xff\x01\x01\x00\x00x"), uint16(3))
	f.Fuzz(func(t *testing.T, b []byte, portion uint16) {
		b = b[:min(len(b), 32<<10)] // more only takes longer
		p, fd := still(t)
		var began, ended, dropped int
		p.onBegin = func(_ []byte, size int) *btl.Landing {
			if size > 64<<10 {
				t.Fatalf("frame of %d bytes", size)
			}
			began++
			l := new(btl.Landing)
			p.buffer = make([]byte, size)
			l.Set(size, p.buffer, nil, nil)
			l.Owner = message{}
			return l
		}
		p.onDeliver = func(message) error {
			if p.downs > 0 {
				t.Fatal("a frame after Down")
			}
			return nil
		}
		for len(b) > 0 && p.downs == 0 {
			n, err := unix.Write(fd, b[:min(len(b), int(portion)+1)])
			if err == nil {
				b = b[n:]
			}
			p.ep.Poll()
		}
		unix.Close(fd)
		for p.downs == 0 {
			p.ep.Poll()
		}
		p.ep.Poll()
		for _, m := range p.frames {
			if m.header == "" {
				ended++
			}
		}
		dropped = p.dropped
		if p.downs != 1 || dropped > 1 || p.ep.scanner.Landing() {
			t.Fatalf("%d times down, %d dropped", p.downs, dropped)
		}
		if began != dropped+ended {
			t.Fatalf("%d begun, %d ended, %d dropped", began, ended, dropped)
		}
		_ = p.ep.Close()
	})
}
