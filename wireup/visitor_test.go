package wireup

import (
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/param"
)

// A porch is a transport to which a test comes as a stranger, or whose attempts it answers.
type porch struct {
	Transport
	*btltest.Host
	slow   bool // the launcher takes its time
	asked  []func([]byte, error)
	dialed []*Pending
}

func newPorch(t *testing.T) (*porch, *Manager) {
	h := &porch{Host: btltest.NewHost(t, 0, 4, porchKind{})}
	h.Open()
	return h, NewManager(h, h, Config{Name: "porch", Strangers: 8, Retries: 1, ConnectTimeout: time.Minute, HandshakeTimeout: time.Second})
}

func (h *porch) PairKey(rank int, found func([]byte, error)) {
	if h.slow {
		h.asked = append(h.asked, found)
		return
	}
	h.Host.PairKey(rank, found)
}

func (*porch) Holds(netip.AddrPort) bool { return true }
func (*porch) NewEndpoint() Endpoint     { return new(modelEndpoint) }
func (h *porch) Dial(p *Pending, _ Way) (Link, error) {
	h.dialed = append(h.dialed, p)
	return new(doorway), nil
}

// dial begins an attempt that has come through.
func (h *porch) dial(t *testing.T, m *Manager) (*Pending, *btltest.Receiver) {
	recv := h.NewReceiver(1)
	ep, err := m.Connect(btl.Peer{Rank: 1}, btl.Path{Private: modelWay{}}, recv)
	require.NoError(t, err)
	ep.Send(nil, 0)
	p := h.dialed[len(h.dialed)-1]
	p.Up()
	return p, recv
}

type porchKind struct{ btl.Component }

func (porchKind) Declare(*param.Registry)             {}
func (porchKind) Open(btl.Host) ([]btl.Module, error) { return []btl.Module{porchModule{}}, nil }

type porchModule struct{ btl.Module }

func (porchModule) Close() error { return nil }

// A doorway is a link that notes what is done to it.
type doorway struct {
	said    []byte
	aborted bool
	err     error // of Send
}

func (d *doorway) Send(b []byte) error             { d.said = append(d.said, b...); return d.err }
func (d *doorway) Abort()                          { d.aborted = true }
func (*doorway) Leave([]byte)                      {}
func (*doorway) Target() (to netip.AddrPort)       { return to }
func (*doorway) Addresses() (local, remote string) { return "here", "there" }

// hello is that of rank 2, for rank 0.
func (h *porch) hello() []byte {
	id := handshake.NewIdentity(h.Job(), h.Secret(), 2)
	return id.NewConnector(handshake.Request{From: 2, To: 0}, nil, nil, nil, handshake.NewNonce()).Hello()
}

// Who claims to be a rank waits for the launcher, and is forgotten when he has lost his place or gone.
// However many there are, the launcher is asked once.
func TestClaimantsThatHaveGoneAreForgotten(t *testing.T) {
	h, m := newPorch(t)
	h.slow = true
	said := h.hello()
	var last *doorway
	var gone *Pending
	for i := range 100 {
		last = new(doorway)
		p := m.Came(last, netip.AddrPort{})
		p.Take(said)
		if i%2 == 0 {
			p.Ended(io.EOF)
		} else {
			gone = p
		}
	}
	require.Len(t, h.asked, 1)
	require.LessOrEqual(t, len(m.asking[2].waiting), m.Count())
	gone.Ended(io.EOF)
	require.Len(t, m.asking[2].waiting, m.Count())
	stays := new(doorway)
	m.Came(stays, netip.AddrPort{}).Take(said)
	h.asked[0]([]byte("what both share"), nil)
	require.Empty(t, m.asking)
	require.Empty(t, last.said, "it has gone")
	require.Equal(t, "STRA", string(stays.said[:4]))
}

// A peer whose attempt has lost against ours is gone before it is answered. Over a socket that tells a
// sender so that is no failure: what was said before it went is still to be read.
func TestWhoIsGoneBeforeTheAnswerIsReadToTheEnd(t *testing.T) {
	for _, err := range []error{syscall.EPIPE, syscall.ECONNRESET} {
		h, m := newPorch(t)
		gone := &doorway{err: err}
		p := m.Came(gone, netip.AddrPort{})
		p.Take(h.hello())
		require.NotEmpty(t, gone.said)
		require.False(t, gone.aborted, "%v", err)
		p.Ended(io.EOF)
		require.True(t, gone.aborted)
	}
	h, m := newPorch(t)
	broken := &doorway{err: syscall.ENOBUFS}
	m.Came(broken, netip.AddrPort{}).Take(h.hello())
	require.True(t, broken.aborted, "any other error is one")
}

// Who waits for the launcher until his time is over is not said to have proved nothing: he was not asked to.
func TestLauncherTooSlowForClaimant(t *testing.T) {
	h, m := newPorch(t)
	h.slow = true
	door := new(doorway)
	m.Came(door, netip.AddrPort{}).Take(h.hello())
	h.Clock.Advance(m.HandshakeTimeout)
	require.True(t, door.aborted)
	require.Contains(t, strings.Join(h.Lines(), "\n"), "rank 2, whose key the launcher has not told in 1s")
}
