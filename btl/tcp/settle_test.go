package tcp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/handshake"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// together makes both ranks connect before either can see the other's attempt.
func together(a, b *node) (x, y *peer) {
	x, y = a.reach(b), b.reach(a)
	a.engine.Lock()
	b.engine.Lock()
	x.ep.Send(frame("h"), 0)
	y.ep.Send(frame("h"), 0)
	b.engine.Unlock()
	a.engine.Unlock()
	return x, y
}

func TestBothAtOnce(t *testing.T) {
	for range 20 {
		a, b := newNode(t, 0, 2), newNode(t, 1, 2)
		a.mod.Wire.Grace = time.Hour
		x, y := together(a, b)
		a.until("a connection", func() bool { return x.ups > 0 })
		b.until("a connection", func() bool { return y.ups > 0 })
		require.Equal(t, btl.Done, x.send(frame("h", "from 0")))
		require.Equal(t, btl.Done, y.send(frame("h", "from 1")))
		a.until("a frame", func() bool { return len(x.frames) == 1 })
		b.until("a frame", func() bool { return len(y.frames) == 1 })
		require.Equal(t, message{"h", "from 1"}, x.frames[0])
		require.Empty(t, a.accepted)
		require.Empty(t, b.accepted)
		a.do(func() { require.True(t, x.ep.Opened(), "the lower rank's attempt wins") })
		b.do(func() { require.False(t, y.ep.Opened()) })
		require.Zero(t, x.downs+y.downs)
		// What is left of the other attempt goes away by itself.
		a.until("one connection", func() bool { return len(a.mod.Wire.Leaving())+a.mod.Wire.Count() == 0 })
		b.until("one connection", func() bool { return len(b.mod.Wire.Leaving())+b.mod.Wire.Count() == 0 })
		a.close()
		b.close()
	}
}

// silentPort is a port where connections are made and never answered.
func silentPort(t *testing.T) uint16 {
	fd, err := rawio.Listen(netip.MustParseAddrPort("127.0.0.1:0"), backlog)
	require.NoError(t, err)
	t.Cleanup(func() { rawio.Close(fd) })
	return rawio.LocalAddr(fd).Port()
}

// refusingPort is a port where connections are refused. A socket that does not listen
// keeps it from others; with SO_REUSEADDR it would not.
func refusingPort(t *testing.T) uint16 {
	at := netip.MustParseAddrPort("127.0.0.1:0")
	fd, err := rawio.Stream(at)
	require.NoError(t, err)
	t.Cleanup(func() { rawio.Close(fd) })
	require.NoError(t, unix.Bind(fd, &unix.SockaddrInet4{Addr: at.Addr().As4()}))
	return rawio.LocalAddr(fd).Port()
}

// unreachable is b's address with a port that leads nowhere.
func unreachable(b *node, port uint16) []byte {
	a := b.mod.Local.Address
	a.Port = port
	return a.Encode()
}

// The lower rank's attempt gets no answer; the higher's, in reserve, takes its
// place long before any time limit.
func TestOneWayReserve(t *testing.T) {
	a := newNode(t, 0, 2, set(pHandshakeTimeout, "1h"), set(pConnectTimeout, "1h"))
	b := newNode(t, 1, 2, set(pHandshakeTimeout, "1h"))
	x := a.reachAddress(1, unreachable(b, silentPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the handshake", func() bool { return x.ep.At() == wireup.ConnectAck })
	y := b.reach(a)
	require.Equal(t, btl.Done, y.send(frame("h", "hello")))
	a.until("the frame", func() bool { return len(x.frames) == 1 })
	require.Equal(t, 1, x.ups)
	require.Equal(t, 1, x.writable)
	require.False(t, x.ep.Opened())
	require.Equal(t, btl.Done, x.send(frame("h", "back")))
	b.until("the frame", func() bool { return len(y.frames) == 1 })
}

// The lower rank's attempts are refused one after the other; the higher's is
// taken in a pause between two.
func TestOneWayRefused(t *testing.T) {
	a := newNode(t, 0, 2, set(pConnectRetries, "1000"))
	b := newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, refusingPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("a failed attempt", func() bool { return x.ep.Tries() > 0 })
	y := b.reach(a)
	require.Equal(t, btl.Done, y.send(frame("h", "hello")))
	a.until("the frame", func() bool { return len(x.frames) == 1 })
	require.Zero(t, x.downs)
}

// A connection that the peer opened before the host made an endpoint of its own
// gets that endpoint.
func TestWaitingEndpointIsUsed(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	y := b.reach(a) // not sent to
	x := a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return y.ups == 1 })
	require.Empty(t, b.accepted)
}

// A host that closes its endpoint while the peer's connection is in reserve is
// told of the peer as of any other.
func TestReserveOutlivesEndpoint(t *testing.T) {
	a := newNode(t, 0, 2, set(pHandshakeTimeout, "1h"))
	b := newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, silentPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the handshake", func() bool { return x.ep.At() == wireup.ConnectAck })
	y := b.reach(a)
	b.do(func() { y.ep.Send(frame("h"), 0) })
	a.until("a reserve", func() bool {
		if !x.ep.Reserved() {
			return false
		}
		_ = x.ep.Close()
		return true
	})
	a.until("the connection", func() bool { return len(a.accepted) == 1 })
	b.until("the connection", func() bool { return y.ups == 1 })
}

// lose ends a node's connection so that the peer does not notice.
func (p *peer) lose() (keep int) {
	p.n.do(func() {
		keep = dup(p.n.t, p.ep.conn.FD())
		p.ep.Down(p.ep.Error("test", errNoGoodbye))
		_ = p.ep.Close()
	})
	return keep
}

func TestNewerEpochReplaces(t *testing.T) {
	for _, opener := range []int{0, 1} {
		a, b := newNode(t, 0, 2), newNode(t, 1, 2)
		first, second := a, b
		if opener == 1 {
			first, second = b, a
		}
		// Who has opened the first connection does not matter, nor who loses it.
		x := first.reach(second)
		x.connected()
		second.until("the connection", func() bool { return len(second.accepted) == 1 && second.accepted[0].ups == 1 })
		for _, loser := range []*node{first, second} {
			other := first
			if loser == first {
				other = second
			}
			var old, lost *peer
			loser.do(func() { lost = loser.peers[other.rank] })
			other.do(func() { old = other.peers[loser.rank] })
			kept := lost.lose()
			again := loser.reach(other)
			require.Equal(t, btl.Done, again.send(frame("h", "again")))
			other.until("the end of the old connection", func() bool { return old.downs == 1 })
			require.ErrorContains(t, old.down, "newer")
			var now *peer
			other.until("the new connection", func() bool {
				now = other.peers[loser.rank]
				return now != old && len(now.frames) == 1
			})
			require.Greater(t, now.ep.Epoch(), old.ep.Epoch())
			rawio.Close(kept)
			other.do(func() { _ = old.ep.Close() })
		}
		a.close()
		b.close()
	}
}

func TestRetriesAreCounted(t *testing.T) {
	a, b := newNode(t, 0, 2, set(pConnectRetries, "2")), newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, refusingPort(t)))
	a.do(func() { require.Equal(t, btl.Busy, x.ep.Send(frame("h"), 0)) })
	a.until("the end", func() bool { return x.downs == 1 })
	var e *btl.ConnError
	require.ErrorAs(t, x.down, &e)
	require.Equal(t, 1, e.Peer)
	require.Equal(t, "host1", e.PeerHost)
	require.Equal(t, "connecting", e.Phase)
	require.Contains(t, e.Remote, "127.0.0.1:")
	require.ErrorContains(t, e, "refused")
	require.Contains(t, e.Remedy, "nothing listens on port")
	require.Equal(t, uint32(2), x.ep.Attempted())
	a.do(func() { require.Equal(t, btl.Broken, x.ep.Send(frame("h"), 0)) })
	require.Zero(t, x.ups)
}

func TestTimeouts(t *testing.T) {
	a, b := newNode(t, 0, 2, set(pConnectRetries, "1"), set(pHandshakeTimeout, "30ms")), newNode(t, 1, 2)
	x := a.reachAddress(1, unreachable(b, silentPort(t)))
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the end", func() bool { return x.downs == 1 })
	require.ErrorContains(t, x.down, "handshake: no answer in 30ms")
	require.ErrorContains(t, x.down, "the connection itself was made")
	require.ErrorContains(t, x.down, "if rank 1 is only slow, raise "+pHandshakeTimeout)
}

func TestRefusedByHost(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	b.refuse = errNoGoodbye
	x := a.reach(b)
	a.do(func() { x.ep.Send(frame("h"), 0) })
	a.until("the end", func() bool { return x.downs == 1 })
	var refused *handshake.RefusedError
	require.ErrorAs(t, x.down, &refused)
	require.Equal(t, handshake.Gone, refused.Code)
	require.ErrorIs(t, x.down, btl.ErrUnwelcome)
	require.Equal(t, errNoGoodbye.Error(), refused.Reason)
	require.Equal(t, uint32(1), x.ep.Attempted(), "not tried again")
}

func TestWrongSecretAndJob(t *testing.T) {
	for name, opt := range map[string]option{
		"secret": withSecret([]byte("another secret of thirty-two byt")),
		"job":    withJob("another job"),
	} {
		t.Run(name, func(t *testing.T) {
			a, b := newNode(t, 0, 2, opt, set(pConnectRetries, "1")), newNode(t, 1, 2)
			x := a.reach(b)
			a.do(func() { x.ep.Send(frame("h"), 0) })
			a.until("the end", func() bool { return x.downs == 1 })
			require.ErrorContains(t, x.down, "without a word")
			want := map[string]error{"secret": handshake.ErrSecret, "job": handshake.ErrJob}[name]
			require.Contains(t, b.logged(btl.LogWarn)[0], want.Error())
			require.Empty(t, b.accepted)
		})
	}
}

// A rank whose key can not be known is not connected to, and is not let in.
func TestKeyIsNotKnown(t *testing.T) {
	for name, who := range map[string]int{"to the connector": 0, "to the acceptor": 1} {
		t.Run(name, func(t *testing.T) {
			a, b := newNode(t, 0, 2, set(pConnectRetries, "1")), newNode(t, 1, 2)
			[]*node{a, b}[who].unknown = handshake.ErrKey
			x := a.reach(b)
			a.do(func() { x.ep.Send(frame("h"), 0) })
			a.until("the end", func() bool { return x.downs == 1 })
			require.Empty(t, b.accepted)
			if who == 0 {
				require.ErrorIs(t, x.down, handshake.ErrKey)
				return
			}
			require.ErrorContains(t, x.down, "without a word")
			require.Contains(t, b.logged(btl.LogWarn)[0], "it claims to be rank 0: "+handshake.ErrKey.Error())
		})
	}
}

// A process of version 1 is refused, and both sides say which version the other has.
func TestOtherVersion(t *testing.T) {
	n := newNode(t, 0, 4)
	_, said := hello(n, 2, testSecret)
	said[4] = 1
	c, answer := challenge(t, n, said)
	require.Equal(t, []byte{'S', 'T', 'R', 'A', handshake.Version, 0}, answer[:6], "which is where version 1 looks for it")
	require.NoError(t, c.(*net.TCPConn).CloseWrite()) // who has had the answer leaves: nobody waits for the time to be up
	throwOut(t, n, c, handshake.ErrVersion)
	l := impostor(t, func(c net.Conn) {
		read(c, 108)
		answer[4] = 1
		_, _ = c.Write(answer)
	})
	b := newNode(t, 1, 4)
	x := n.reachAddress(1, unreachable(b, portOf(l)))
	n.do(func() { x.ep.Send(frame("h"), 0) })
	n.until("the end", func() bool { return x.downs == 1 })
	require.ErrorContains(t, x.down, "theirs is 1, ours 2")
	require.Equal(t, uint32(1), x.ep.Attempted(), "not tried again")
}

// Two ranks connect to each other. Then both are away for longer than a handshake may take, as
// when a machine is paused. When they are back they agree about the connection.
func TestAwayDuringTheHandshake(t *testing.T) {
	const longest = 4 * time.Second // a slow machine may need more than the first limit
	for limit := 400 * time.Millisecond; ; limit *= 3 {
		var all []*away
		for polls := range 8 { // by the last of which both are connected
			all = append(all, awayAfter(t, polls, limit))
		}
		<-time.After(limit + limit/3)
		for _, w := range all {
			w.back()
		}
		downs := 0
		for _, w := range all {
			downs += w.agree()
		}
		if downs == 0 {
			return
		}
		require.Less(t, limit, longest, "%d endpoints went down", downs)
	}
}

// Two ranks that are away have their engines locked.
type away struct {
	a, b *node
	x, y *peer // the other, as a and b see it
}

// awayAfter has the two poll so many times, in turn, before they are away.
func awayAfter(t *testing.T, polls int, limit time.Duration) *away {
	set := set(pHandshakeTimeout, limit.String())
	a, b := newNode(t, 0, 2, set), newNode(t, 1, 2, set)
	w := &away{a: a, b: b, x: a.reach(b), y: b.reach(a)}
	a.engine.Lock()
	b.engine.Lock()
	w.x.ep.Send(frame("h"), 0)
	w.y.ep.Send(frame("h"), 0)
	for i := range polls {
		[]*node{a, b}[i%2].engine.Poll(nil)
	}
	return w
}

// back has them go on.
func (w *away) back() {
	w.a.engine.Poll(nil) // before b can have answered
	for _, p := range w.b.mod.Wire.Embryonic() {
		if came := p.Link().(*talk); came.ready {
			came.Poll(false) // descriptors are looked at in any order
		}
	}
	w.b.engine.Unlock()
	w.a.engine.Unlock()
}

// agree has them talk, and returns how many endpoints went down.
func (w *away) agree() (downs int) {
	w.a.until("a connection", func() bool { return w.x.ups > 0 })
	w.b.until("a connection", func() bool { return w.y.ups > 0 })
	ask := func(n *node, p *peer) {
		n.until("an answer", func() bool { return len(p.frames) > 0 || p.downs > 0 })
		downs += p.downs
	}
	w.x.send(frame("h", "from 0"))
	w.y.send(frame("h", "from 1"))
	ask(w.a, w.x)
	ask(w.b, w.y)
	w.a.close()
	w.b.close()
	return downs
}
