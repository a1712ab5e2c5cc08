package sctp

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/sctp/chunk"
)

// exchange has both sides send some messages, which all arrive.
func exchange(t testing.TB, w *world, here, there *user) {
	before, after := here.received, there.received
	for i := range 20 {
		here.say(uint16(i%3), 3000)
		there.say(uint16(i%3), 3000)
	}
	w.run(w.now+5*time.Minute, func() bool { return here.received == before+20 && there.received == after+20 })
	require.Equal(t, before+20, here.received)
	require.Equal(t, after+20, there.received)
}

// Both sides begin at once: one association comes of it, however the network mixes what they say.
func TestBothAtOnce(t *testing.T) {
	for seed := range uint64(50) {
		l := quiet()
		l.Jitter, l.Loss, l.Duplicate = 5*time.Millisecond, emulate.Independent(0.2), 0.2
		w := newWorld(t, seed, 1, l)
		a, b := w.join(0, 1, nil), w.join(1, 1, nil)
		here, there := a.call(b), b.call(a)
		w.run(5*time.Minute, func() bool { return here.up && there.up })
		require.True(t, here.up && there.up, "seed %d: %v and %v", seed, here.a.state, there.a.state)
		require.Equal(t, 1, a.Len())
		require.Equal(t, 1, b.Len())
		require.Equal(t, here.a.tag, there.a.peerTag)
		require.Equal(t, there.a.tag, here.a.peerTag)
		exchange(t, w, here, there)
	}
}

// There is one association with a peer.
func TestSecondCall(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	_, err := here.n.Associate(w.at(), []Pair{here.a.paths[0].Pair}, sctpPort, here)
	require.ErrorIs(t, err, syscall.EISCONN)
	_, err = here.n.Associate(w.at(), nil, sctpPort, here)
	require.ErrorIs(t, err, syscall.EDESTADDRREQ)
	exchange(t, w, here, there)
}

// A peer that has restarted begins anew, whether it or we notice first.
func TestRestart(t *testing.T) {
	for _, calls := range []bool{true, false} {
		w, here, there := pair(t, 1, quiet(), nil)
		exchange(t, w, here, there)
		there.n.dead = true
		again := w.join(1, 1, nil)
		if calls {
			other := again.call(here.n)
			w.run(w.now+time.Minute, func() bool { return other.up })
			require.ErrorIs(t, here.down, ErrRestarted)
			require.ErrorIs(t, here.down, syscall.ECONNRESET)
			exchange(t, w, here.n.users[1], other)
		} else {
			here.say(0, 10)
			w.run(w.now+time.Minute, func() bool { return here.down != nil })
			require.ErrorIs(t, here.down, syscall.ECONNRESET)
			other := here.n.call(again)
			w.run(w.now+time.Minute, func() bool { return other.up })
			exchange(t, w, other, other.other(again))
		}
		require.Equal(t, 1, here.n.Len())
		require.Equal(t, 1, again.Len())
	}
}

// A restart must not bring addresses that were not the peer's before: they may be somebody else's.
func TestRestartWithNewAddresses(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	a, b := w.join(0, 2, nil), w.join(1, 1, nil)
	here := a.call(b)
	w.run(time.Second, nil)
	b.dead = true
	again := w.join(1, 2, nil)
	other := again.call(a)
	w.run(w.now+time.Second, nil)
	require.NoError(t, here.down)
	var abort *AbortError
	require.ErrorAs(t, other.down, &abort)
	require.Equal(t, uint16(chunk.CauseRestartAddresses), abort.Cause)
	require.ErrorIs(t, other.down, syscall.ECONNREFUSED)
}

// Nobody is there, or nobody wants us.
func TestRefused(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, func(c *Config) { c.Accept = func(*Association) Owner { return nil } })
	here := a.call(b)
	w.run(time.Minute, func() bool { return here.down != nil })
	require.ErrorIs(t, here.down, syscall.ECONNREFUSED)
	require.Zero(t, a.Len()+b.Len())

	b.dead = true
	here = a.call(b)
	w.run(w.now+time.Hour, func() bool { return here.down != nil })
	require.ErrorIs(t, here.down, syscall.ETIMEDOUT)
	require.Zero(t, a.Len()+len(a.byPeer))
}

// Where there is no room, the peer waits, and gets in once there is.
func TestRoom(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	room := false
	a, b := w.join(0, 1, nil), w.join(1, 1, func(c *Config) { c.Room = func(netip.AddrPort) bool { return room } })
	here := a.call(b)
	w.run(2*time.Second, nil)
	require.Zero(t, b.Len())
	room = true
	w.run(time.Minute, func() bool { return here.up })
	exchange(t, w, here, here.other(b))
}

// Strangers who send INITs and never come back cost nothing, and keep nobody away.
func TestFlood(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	r := rand.New(rand.NewPCG(1, 2))
	buf := make([]byte, 0, 1500)
	flood := func() {
		c := initChunk(chunk.TypeInit, 1+r.Uint32()/2)
		p := append(chunk.AppendHeader(nil, chunk.Header{Source: uint16(1 + r.IntN(60000)), Destination: sctpPort}), c...)
		chunk.Seal(p)
		from := netip.AddrPortFrom(netip.AddrFrom4([4]byte{11, byte(r.IntN(200)), byte(r.IntN(256)), byte(r.IntN(256))}), uint16(1+r.IntN(60000)))
		_, reply := b.Receive(w.at(), address(0, 1), from, p, buf)
		require.Equal(t, []chunk.Type{chunk.TypeInitAck}, types(reply))
	}
	for range 4000 {
		flood()
	}
	require.Zero(t, b.Len()+len(b.byPeer))
	require.LessOrEqual(t, testing.AllocsPerRun(100, flood), 12.0) // of which most are the test's
	here := a.call(b)
	w.run(time.Second, func() bool { return here.up })
	require.True(t, here.up)
	require.Less(t, w.now, 50*time.Millisecond)
	exchange(t, w, here, here.other(b))
}

// A cookie is good for its association, once, in time, unchanged, and from whom it was given.
func TestCookies(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	var echo datagram
	w.tap = func(d datagram) bool {
		if types(d.bytes)[0] == chunk.TypeCookieEcho {
			echo = datagram{from: d.from, to: d.to, bytes: bytes.Clone(d.bytes)}
		}
		return true
	}
	here := a.call(b)
	w.run(time.Second, nil)
	there := here.other(b)
	var answers []chunk.Type
	w.tap = func(d datagram) bool {
		answers = append(answers, types(d.bytes)...)
		return true
	}
	replay := func(change func(*datagram)) []chunk.Type {
		answers = nil
		d := echo
		d.bytes = bytes.Clone(echo.bytes)
		if change != nil {
			change(&d)
			chunk.Seal(d.bytes)
		}
		w.deliver(d)
		return answers
	}
	end := chunk.HeaderSize + int(echo.bytes[chunk.HeaderSize+2])<<8 + int(echo.bytes[chunk.HeaderSize+3])
	for i := chunk.HeaderSize + 4; i < end; i++ {
		require.Empty(t, replay(func(d *datagram) { d.bytes[i] ^= 4 }), "byte %d", i)
	}
	require.Empty(t, replay(func(d *datagram) { d.from = netipAt(2) }))
	require.Empty(t, replay(func(d *datagram) { d.bytes[4] ^= 1 }), "the tag")
	// While the association is there, it is answered, and does nothing else.
	require.Equal(t, []chunk.Type{chunk.TypeCookieAck}, replay(nil))
	require.Equal(t, Established, there.a.state)
	exchange(t, w, here, there)
	here.a.Shutdown(w.at())
	a.flush(here.a)
	w.run(w.now+time.Second, func() bool { return there.down != nil })
	// When it has ended, it does nothing.
	require.Empty(t, replay(nil))
	require.Zero(t, b.Len())
	w.run(w.now+2*time.Minute, nil)
	require.Equal(t, []chunk.Type{chunk.TypeError}, replay(nil), "it is stale")
	require.Zero(t, b.Len())
	w.run(w.now+3*time.Hour, nil)
	require.NotEmpty(t, replay(nil), "the key before is good still")
	w.run(w.now+time.Hour, nil)
	here = a.call(b) // a new key is made
	w.run(w.now+time.Second, nil)
	require.True(t, here.up)
}

// A cookie that is too old when it comes back is made anew, to live longer (RFC 9260, section 5.2.6).
func TestStaleCookie(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, func(c *Config) { c.CookieLife = 7 * time.Millisecond })
	here := a.call(b)
	w.run(time.Second, func() bool { return here.up })
	require.True(t, here.up)
	require.Equal(t, uint64(1), b.Stale)
	exchange(t, w, here, here.other(b))

	// One that can never be in time.
	b = w.join(2, 1, func(c *Config) { c.CookieLife = time.Millisecond })
	here = a.call(b)
	w.run(w.now+time.Hour, func() bool { return here.down != nil })
	require.ErrorIs(t, here.down, syscall.ETIMEDOUT)
}

// A cookie has come back too late several times, as to a process that stood still. The peer has taken the next one when it is told so once
// more.
func TestErrorOfAnEarlierCookie(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, func(c *Config) { c.CookieLife = time.Second })
	var late []datagram
	w.tap = func(d datagram) bool {
		if slices.Contains(types(d.bytes), chunk.TypeCookieEcho) {
			late = append(late, d)
			return false
		}
		return true
	}
	here := a.call(b)
	w.run(10*time.Second, nil)
	w.tap = func(datagram) bool { return true }
	w.deliver(late[0])
	w.run(w.now+18*time.Millisecond, nil)
	w.deliver(late[1])
	w.run(w.now+time.Second, func() bool { return here.up })
	require.True(t, here.up)
	exchange(t, w, here, here.other(b))
}

// What an INIT says is checked, and what is not known in it is answered.
func TestGreetings(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	b := w.join(1, 1, nil)
	greet := func(c []byte) (all []chunk.Chunk) {
		p := append(chunk.AppendHeader(nil, chunk.Header{Source: 9, Destination: sctpPort}), c...)
		chunk.Seal(p)
		a, reply := b.Receive(w.at(), address(0, 1), netipAt(0), p, nil)
		require.Nil(t, a)
		if reply == nil {
			return nil
		}
		_, chunks, err := chunk.Parse(reply, false)
		require.NoError(t, err)
		for c, ok := chunks.Next(); ok; c, ok = chunks.Next() {
			all = append(all, c)
		}
		return all
	}
	bare := func(i chunk.Init) []byte {
		b, start := chunk.BeginInit(nil, chunk.TypeInit, i)
		return chunk.End(b, start)
	}
	refused := func(c []byte, cause uint16) {
		all := greet(c)
		require.Len(t, all, 1)
		require.Equal(t, chunk.TypeAbort, all[0].Type)
		causes := chunk.Causes(all[0])
		f, _ := causes.Next()
		require.Equal(t, cause, f.Code)
	}
	require.Nil(t, greet(bare(chunk.Init{Window: 1 << 16, Out: 1, In: 1})), "no tag to answer to")
	refused(bare(chunk.Init{Tag: 1, Window: 1 << 16, In: 1}), chunk.CauseInvalidParameter)
	refused(bare(chunk.Init{Tag: 1, Window: 1 << 16, Out: 1}), chunk.CauseInvalidParameter)
	refused(bare(chunk.Init{Tag: 1, Window: 1499, Out: 1, In: 1}), chunk.CauseInvalidParameter)
	refused(initChunk(chunk.TypeInit, 1, chunk.AppendField(nil, chunk.ParamHostName, []byte("host"))), chunk.CauseUnresolvableAddress)
	refused(initChunk(chunk.TypeInit, 1, chunk.AppendField(nil, chunk.ParamIPv4, []byte("longer"))), chunk.CauseViolation)

	// An INIT is alone, and its header has no tag.
	require.Nil(t, greet(append(initChunk(chunk.TypeInit, 1), chunk.Append(nil, chunk.TypeCookieAck, 0, nil)...)))

	all := greet(initChunk(chunk.TypeInit, 1,
		chunk.AppendField(nil, 0xc123, []byte("tell")), chunk.AppendField(nil, 0x8123, []byte("pass")),
		chunk.AppendField(nil, 0x4123, []byte("stop")), chunk.AppendField(nil, 0xc124, []byte("late"))))
	require.Equal(t, chunk.TypeInitAck, all[0].Type)
	i, err := chunk.ParseInit(all[0])
	require.NoError(t, err)
	var told []string
	for f, ok := i.Parameters.Next(); ok; f, ok = i.Parameters.Next() {
		if f.Code == chunk.ParamUnrecognized {
			told = append(told, string(f.Value[4:]))
		}
	}
	require.Equal(t, []string{"tell", "stop"}, told)
	require.Zero(t, b.Len())
}

// Who says that somebody else's address is its own gets nothing of it.
func TestStolenAddress(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	a, b, thief := w.join(0, 2, nil), w.join(1, 2, nil), w.join(2, 2, nil)
	here := b.call(a)
	w.run(time.Second, nil)
	there := here.other(a)
	// The thief's second address is b's second one.
	thief.addresses[1] = b.addresses[1]
	stolen := thief.call(a)
	w.run(w.now+10*time.Second, nil)
	require.True(t, stolen.up)
	w.run(w.now+time.Second, nil)
	require.Equal(t, 1, stolen.other(a).a.Paths())
	require.Equal(t, there.a, a.byPeer[peer{netip.AddrPortFrom(b.addresses[1], udpPort), sctpPort}])
	exchange(t, w, here, there)
}

// An INIT ACK may have no checksum if the INIT has offered that (RFC 9653, section 5.2): pion/sctp's has none.
func TestInitAckWithoutChecksum(t *testing.T) {
	for _, offered := range []uint32{0, 1} {
		w := newWorld(t, 1, 1, quiet())
		offer := func(c *Config) { c.ZeroChecksum = offered }
		a, b := w.join(0, 1, offer), w.join(1, 1, offer)
		w.tap = func(d datagram) bool {
			if types(d.bytes)[0] == chunk.TypeInitAck {
				clear(d.bytes[8:chunk.HeaderSize])
			}
			return true
		}
		here := a.call(b)
		w.run(time.Second, func() bool { return here.up })
		require.Equal(t, offered != 0, here.up)
	}
}

// Who is told that the peer has restarted may call it at once. There is one association with it all the same: the one that it has begun.
func TestPeerIsCalledAsItRestarts(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	there.n.dead = true
	again := w.join(1, 1, nil)
	var err error
	here.a.owner = &caller{here, func() { _, err = here.n.Associate(w.at(), []Pair{here.a.paths[0].Pair}, sctpPort, here) }}
	other := again.call(here.n)
	w.run(w.now+time.Minute, func() bool { return other.up })
	require.ErrorIs(t, here.down, ErrRestarted)
	require.ErrorIs(t, err, syscall.EISCONN)
	exchange(t, w, other.other(here.n), other)
	require.Equal(t, 1, here.n.Len())
}

// A caller does something as its association has ended.
type caller struct {
	*user
	call func()
}

func (c *caller) Down(err error) {
	c.user.Down(err)
	c.call()
}

// Both sides have begun at once. When the association has ended, a cookie of then that comes once more makes no other one.
func TestCookieOfBothAtOnce(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	var echoes []datagram
	w.tap = func(d datagram) bool {
		if types(d.bytes)[0] == chunk.TypeCookieEcho {
			echoes = append(echoes, d)
		}
		return true
	}
	here, there := a.call(b), b.call(a)
	w.run(time.Second, nil)
	require.True(t, here.up && there.up)
	require.Len(t, echoes, 2)
	here.a.Shutdown(w.at())
	a.flush(here.a)
	w.run(w.now+time.Second, func() bool { return here.down != nil && there.down != nil })
	w.tap = func(datagram) bool { return false }
	for _, d := range echoes {
		w.deliver(d)
	}
	require.Zero(t, a.Len()+b.Len())
}

// Both sides begin at once, and one gives its attempt up when it has answered the other one's INIT. That one goes on.
func TestOneOfTwoGivesUp(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	here := a.call(b)
	w.tap = func(d datagram) bool {
		if d.from.Addr() == address(0, 0) && types(d.bytes)[0] == chunk.TypeInitAck {
			here.a.Abort("")
		}
		return types(d.bytes)[0] != chunk.TypeAbort
	}
	there := b.call(a)
	w.run(time.Second, func() bool { return there.up })
	require.True(t, there.up)
	w.run(w.now+time.Second, nil)
	exchange(t, w, there, there.other(a))
}

// over is the pair of one of a node's addresses and one of another one's.
func (n *node) over(i int, to *node, j int) Pair {
	return Pair{Local: n.addresses[i], Remote: netip.AddrPortFrom(to.addresses[j], to.port), Most: 1452}
}

// Both sides begin at once, and what the peer has begun comes from an address that we do not know for its own. There are two associations here then, of
// which the peer has one. Our own attempt ends when that is known, and takes the other one not along.
func TestBothAtOnceFromAnUnknownAddress(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	a, b := w.join(0, 2, nil), w.join(1, 2, nil)
	var late []datagram
	w.tap = func(d datagram) bool {
		if d.from.Addr() == b.addresses[0] && types(d.bytes)[0] == chunk.TypeInitAck {
			late = append(late, d)
			return false
		}
		return true
	}
	here, there := a.begin(a.over(0, b, 0)), b.begin(b.over(1, a, 0))
	w.run(time.Second, func() bool { return there.up })
	require.True(t, there.up)
	require.Len(t, late, 1)
	w.tap = func(datagram) bool { return true }
	w.deliver(late[0])
	require.ErrorIs(t, here.down, syscall.EISCONN)
	exchange(t, w, there.other(a), there)
	require.Equal(t, 1, a.Len())
	require.Equal(t, 1, b.Len())
}

// So it is where our own attempt has made the association, and the peer's cookie comes late (RFC 9260, section 5.2.4, C).
func TestLateCookieFromAnUnknownAddress(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	a := w.join(0, 2, nil)
	b := w.join(1, 2, func(c *Config) { c.Addresses = c.Addresses[:1] }) // its INIT ACK has no room for the other one
	var late []datagram
	w.tap = func(d datagram) bool {
		if d.from.Addr() == b.addresses[1] && types(d.bytes)[0] == chunk.TypeCookieEcho {
			late = append(late, d)
			return false
		}
		return true
	}
	there, here := b.begin(b.over(1, a, 0), b.over(0, a, 0)), a.begin(a.over(0, b, 0))
	w.run(time.Second, func() bool { return here.up && there.up && len(late) > 0 })
	require.True(t, here.up && there.up && len(late) > 0)
	w.deliver(late[0])
	require.Equal(t, 1, a.Len())
	exchange(t, w, here, there)
}
