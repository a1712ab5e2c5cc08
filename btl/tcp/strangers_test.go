package tcp

import (
	"crypto/sha256"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/strangers"
	"github.com/strandmp/strand/wireup"
)

// stranger connects to a node as anybody can.
func stranger(t testing.TB, n *node) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", target(n).String())
	require.NoError(t, err)
	t.Cleanup(func() { c.Close() })
	require.NoError(t, c.SetDeadline(time.Now().Add(30*time.Second)))
	return c
}

// target is where a node listens.
func target(n *node) netip.AddrPort {
	return netip.AddrPortFrom(n.mod.Local.Interfaces[0].Addr(), n.mod.Local.Port)
}

// unharmed checks that a node still serves its own.
func unharmed(t *testing.T, n *node) {
	t.Helper()
	friend := newNode(t, 1, 4)
	p := friend.reach(n)
	require.Equal(t, btl.Done, p.send(frame("h", "still there?")))
	n.until("a friend's frame", func() bool {
		q := n.peers[1]
		return q != nil && len(q.frames) == 1
	})
}

// hello is what rank from of the job says first.
func hello(n *node, from int, secret []byte) (*handshake.Connector, []byte) {
	c := handshake.NewIdentity(n.job, secret, from).Over("tcp").NewConnector(handshake.Request{
		From: from, To: n.rank, Epoch: 1, Target: target(n),
	}, pairKey(from, n.rank), wireup.Greeting{MaxFrame: 1 << 20, Own: make([]byte, 2), Host: "friend"}.Encode(), nil, handshake.NewNonce())
	return c, c.Hello()
}

func TestGarbage(t *testing.T) {
	random := make([]byte, 4096)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range random {
		random[i] = byte(r.Uint32())
	}
	for name, said := range map[string]string{
		"HTTP":   "GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: something long enough to be a whole hello of ours\r\nAccept: */*\r\n\r\n",
		"TLS":    "\x16\x03\x01" + string(make([]byte, 300)),
		"random": string(random),
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, 0, 4)
			c := stranger(t, n)
			_, err := c.Write([]byte(said))
			require.NoError(t, err)
			got, _ := io.ReadAll(c)
			require.Empty(t, got, "a stranger is told nothing")
			n.until("the end of it", func() bool { return n.mod.Wire.Count() == 0 })
			lines := n.logged(btl.LogWarn)
			require.Len(t, lines, 1)
			require.Contains(t, lines[0], c.LocalAddr().String())
			unharmed(t, n)
		})
	}
}

func TestPortScanIsQuiet(t *testing.T) {
	n := newNode(t, 0, 4)
	for range 50 {
		stranger(t, n).Close()
	}
	n.until("the end of them", func() bool {
		return n.mod.Wire.Count() == 0 && strings.Count(strings.Join(n.logged(btl.LogDebug), "\n"), "dropped a connection") == 50
	})
	require.Empty(t, n.logged(btl.LogWarn))
	require.Len(t, n.logged(btl.LogInfo), 1, "the one that says where it listens")
	unharmed(t, n)
}

func TestHalfOpenEndsAtDeadline(t *testing.T) {
	n := newNode(t, 0, 4, set(pHandshakeTimeout, "1s"))
	silent := stranger(t, n)
	_, said := hello(n, 2, testSecret)
	stuck := stranger(t, n)
	_, err := stuck.Write(said) // and never the proof
	require.NoError(t, err)
	got, _ := io.ReadAll(silent)
	require.Empty(t, got)
	got, _ = io.ReadAll(stuck)
	require.Len(t, got, 72, "the challenge and no more")
	n.until("the end of them", func() bool { return n.mod.Wire.Count() == 0 })
	require.Contains(t, n.logged(btl.LogWarn)[0], "no proof of belonging to this job in 1s")
	unharmed(t, n)
}

// A slow friend is a friend: byte by byte is as good as all at once.
func TestSlowBytes(t *testing.T) {
	n := newNode(t, 0, 4)
	c := stranger(t, n)
	machine, said := hello(n, 2, testSecret)
	for done := false; !done; {
		for i := range said {
			_, err := c.Write(said[i : i+1])
			require.NoError(t, err)
		}
		said = nil
		for len(said) == 0 && !done {
			b := make([]byte, 1)
			_, err := io.ReadFull(c, b)
			require.NoError(t, err)
			said, done, err = machine.Feed(b)
			require.NoError(t, err)
		}
	}
	g, err := n.mod.Wire.DecodeGreeting(machine.Peer())
	require.NoError(t, err)
	require.Equal(t, "hello of 0", string(g.Hello))
	n.until("the endpoint", func() bool { return n.peers[2] != nil && n.peers[2].ups == 1 })
}

func TestClaims(t *testing.T) {
	n := newNode(t, 0, 4)
	for name, test := range map[string]struct {
		r    handshake.Request
		want error
	}{
		"a rank beyond the job": {handshake.Request{From: 9, To: 0, Target: target(n)}, handshake.ErrRank},
		"another rank's":        {handshake.Request{From: 1, To: 2, Target: target(n)}, handshake.ErrRank},
		"another address":       {handshake.Request{From: 1, To: 0, Target: netip.AddrPortFrom(netip.MustParseAddr("192.0.2.9"), n.mod.Local.Port)}, handshake.ErrTarget},
	} {
		t.Run(name, func(t *testing.T) {
			n.do(func() { n.mod.Wire.Strays = wireup.Limiter{} })
			c := stranger(t, n)
			_, err := c.Write(handshake.NewIdentity(n.job, testSecret, test.r.From).NewConnector(test.r, nil, nil, nil, handshake.NewNonce()).Hello())
			require.NoError(t, err)
			got, _ := io.ReadAll(c)
			require.Empty(t, got)
			lines := n.logged(btl.LogWarn)
			require.Contains(t, lines[len(lines)-1], test.want.Error())
		})
	}
	require.Empty(t, n.accepted)
	unharmed(t, n)
}

// More half-open connections than there is room for: the oldest goes.
func TestFloodOfHalfOpen(t *testing.T) {
	n := newNode(t, 0, 4, set(pHandshakeTimeout, "1h"))
	first := stranger(t, n)
	for range mostStrangers - 1 {
		stranger(t, n)
	}
	n.until("all of them", func() bool { return n.mod.Wire.Count() == mostStrangers })
	<-time.NewTimer(strangers.Silent).C // all have had their time
	unharmed(t, n)
	n.do(func() { require.LessOrEqual(t, n.mod.Wire.Count(), mostStrangers) })
	got, err := io.ReadAll(first)
	require.Empty(t, got)
	require.NoError(t, err, "it is the one that had to go")
}

// connectAs makes a connection that has passed the handshake, for a test to
// misbehave on.
func connectAs(t *testing.T, n *node, rank int) (net.Conn, *peer) {
	c := stranger(t, n)
	machine, said := hello(n, rank, testSecret)
	for done := false; !done; {
		_, err := c.Write(said)
		require.NoError(t, err)
		said = nil
		for len(said) == 0 && !done {
			b := make([]byte, machine.Need())
			_, err := io.ReadFull(c, b)
			require.NoError(t, err)
			said, done, err = machine.Feed(b)
			require.NoError(t, err)
		}
	}
	n.until("the endpoint", func() bool { return n.peers[rank] != nil && n.peers[rank].ups == 1 })
	return c, n.peers[rank]
}

func TestWildFrames(t *testing.T) {
	for name, said := range map[string]string{
		"a wild length":    "\xff\xff\xff\xff\x08\x01\x00\x00",
		"above the limit":  "\x01\x00\x10\x00\x08\x01\x00\x00",
		"no header":        "\x01\x00\x00\x00\x00\x01\x00\x00",
		"a long header":    "\x01\x00\x00\x00\x41\x01\x00\x00",
		"an unknown kind":  "\x01\x00\x00\x00\x08\x09\x00\x00",
		"much filled in":   "\x01\x00\x00\x00\x08\x01\x40\x00",
		"much behind it":   "\x01\x00\x00\x00\x08\x01\x00\xff",
		"a filled goodbye": "\x00\x00\x00\x00\x00\x02\x00\x01",
		"a fat goodbye":    "\x01\x00\x00\x00\x00\x02\x00\x00",
		"good, then wild":  "\x02\x00\x00\x00\x01\x01\x00\x00hab" + "\xff\xff\xff\xff\x08\x01\x00\x00",
		"text of a person": "hello there",
	} {
		t.Run(name, func(t *testing.T) {
			n := newNode(t, 0, 4)
			c, p := connectAs(t, n, 2)
			_, err := c.Write([]byte(said))
			require.NoError(t, err)
			n.until("the end", func() bool { return p.downs == 1 })
			var e *btl.ConnError
			require.ErrorAs(t, p.down, &e)
			require.Equal(t, "receiving", e.Phase)
			require.ErrorContains(t, e, "malformed")
			require.Equal(t, "friend", e.PeerHost)
			require.Equal(t, c.LocalAddr().String(), e.Remote)
			if strings.HasPrefix(name, "good") {
				require.Equal(t, []message{{"h", "ab"}}, p.frames)
			}
			unharmed(t, n)
		})
	}
}

// What a receiver does not understand ends the connection, in whichever of the
// calls it says so.
func TestReceiverRefusesFrame(t *testing.T) {
	for _, size := range []int{10, 100 << 10} {
		a, b := newNode(t, 0, 2), newNode(t, 1, 2)
		b.onAccept = func(p *peer) { p.onDeliver = func(message) error { return io.ErrNoProgress } }
		p := a.reach(b)
		p.send(frame("h", strings.Repeat("x", size)))
		b.until("the end", func() bool { return len(b.accepted) == 1 && b.accepted[0].downs == 1 })
		require.ErrorIs(t, b.accepted[0].down, io.ErrNoProgress)
		a.until("the end", func() bool { return p.downs == 1 })
	}
}

// If accept fails because the system has no descriptors or memory, it is tried again
// a little later, not at once.
func TestAcceptRestsAfterFailure(t *testing.T) {
	n := newNode(t, 0, 4)
	n.do(func() {
		l := n.mod.listeners[0]
		good := l.fd
		bad, err := rawio.Stream(target(n)) // which can not accept
		require.NoError(t, err)
		defer rawio.Close(bad)
		l.watch.Stop()
		l.watch, err = n.engine.Watch(bad, l)
		require.NoError(t, err)
		l.fd = bad
		require.False(t, l.Poll(false))
		require.Nil(t, l.watch, "it does not spin")
		require.NotNil(t, l.pause)
		l.fd = good
	})
	require.Contains(t, n.logged(btl.LogWarn)[0], "accept: invalid argument")
	unharmed(t, n)
}

// A stranger that claims to speak another version keeps its place until it has been told ours. If it says something meanwhile, on and on,
// others come in all the same, and it goes when its time is over.
func TestFloodOfOneStranger(t *testing.T) {
	n := newNode(t, 0, 4, set(pHandshakeTimeout, "100ms"))
	job := sha256.Sum256([]byte(n.job))
	said := make([]byte, 64<<10)
	copy(said, "STRD\x01\x00")
	copy(said[8:], job[:16])
	c := stranger(t, n)
	var err error
	for err == nil {
		_, err = c.Write(said)
	}
	require.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	unharmed(t, n)
}
