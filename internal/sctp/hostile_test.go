package sctp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// hand gives a node a packet from an address, and returns what the stranger is told.
func (n *node) hand(from netip.AddrPort, to netip.Addr, tag uint32, chunks []byte) (a *Association, reply []byte) {
	b := append(chunk.AppendHeader(nil, chunk.Header{Source: sctpPort, Destination: sctpPort, Tag: tag}), chunks...)
	chunk.Seal(b)
	return n.Receive(n.w.at(), to, from, b, nil)
}

// cookieFor is the cookie that a node gives for an INIT, and the tag that it belongs to.
func (n *node) cookieFor(from netip.AddrPort, to netip.Addr, more ...[]byte) (tag uint32, cookie []byte) {
	_, reply := n.hand(from, to, 0, initChunk(chunk.TypeInit, 99, more...))
	_, chunks, err := chunk.Parse(reply, false)
	require.NoError(n.w.t, err)
	c, _ := chunks.Next()
	var g greeting
	require.Nil(n.w.t, g.read(c))
	return g.Tag, g.cookie
}

// Who answers an INIT from another port of UDP's is talked to there.
func TestAnswerFromAnotherPort(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	w.tap = func(d datagram) bool {
		b.port = 7777
		if d.from.Addr() == a.addresses[0] && d.to.Port() == udpPort { // it is let through to the new port
			w.send(datagram{from: d.from, to: netip.AddrPortFrom(d.to.Addr(), b.port), bytes: d.bytes, whole: d.whole})
			return false
		}
		return true
	}
	here := a.call(b)
	w.run(time.Minute, func() bool { return here.up })
	require.True(t, here.up)
	require.Equal(t, netip.AddrPortFrom(address(0, 1), 7777), here.a.Remote())
	require.Len(t, a.byPeer, 1)
	exchange(t, w, here, here.other(b))
}

// A peer can take back, with its INIT ACK, the address at which it has got a cookie of ours.
func TestCookieOfAnAddressThatIsGone(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	a, b := w.join(0, 2, nil), w.join(1, 2, nil)
	w.tap = func(datagram) bool { return false }
	here := a.call(b)
	second := netip.AddrPortFrom(address(1, 1), udpPort)
	tag, cookie := a.cookieFor(second, address(1, 0))
	require.Equal(t, here.a.tag, tag)
	a.hand(netipAt(1), address(0, 0), tag, initChunk(chunk.TypeInitAck, 99, chunk.AppendField(nil, chunk.ParamCookie, []byte("theirs"))))
	require.Equal(t, CookieEchoed, here.a.State())
	a.hand(second, address(1, 0), tag, chunk.Append(nil, chunk.TypeCookieEcho, 0, cookie))
	require.Equal(t, Established, here.a.State())
	require.Equal(t, second, here.a.Remote())
}

// A peer on a network has no address that is of this machine, or of one of its links, only.
func TestAddressesOfLessScope(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	b := w.join(1, 1, func(c *Config) { c.Local = nil })
	var named []byte
	for _, a := range []string{"127.0.0.1", "169.254.7.7", "::1", "fe80::1", "10.0.0.3"} {
		named = chunk.AppendAddress(named, netip.MustParseAddr(a))
	}
	tag, cookie := b.cookieFor(netipAt(0), address(0, 1), named)
	a, _ := b.hand(netipAt(0), address(0, 1), tag, chunk.Append(nil, chunk.TypeCookieEcho, 0, cookie))
	require.NotNil(t, a)
	require.Equal(t, 2, a.Paths())
	require.Equal(t, netipAt(3), a.Path(1).Remote)
}

// Where the system says that packets are too long, the length that it takes is found, though data flows all the time.
func TestRefusedLengths(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	a, b := w.join(0, 1, nil), w.join(1, 1, func(c *Config) {
		c.Local = func(remote netip.AddrPort, arrived netip.Addr) (Pair, bool) {
			return Pair{Local: arrived, Remote: remote, Most: 8952}, true
		}
	})
	here := a.call(b)
	var there *user
	w.tap = func(d datagram) bool {
		if there = here.other(b); there != nil && len(d.bytes) > 1452 {
			there.a.TooLong(w.at(), d.to, len(d.bytes))
			return false
		}
		return true
	}
	for range 100 {
		w.run(w.now+100*time.Millisecond, nil)
		if there != nil {
			there.say(0, 1000)
		}
	}
	require.Greater(t, there.a.Path(0).Packet, 1452-24)
}

// The answer to a stranger's INIT, who may have given somebody else's address, is at most three times as long, with the
// headers of UDP and IP, however many addresses we have and whatever it asks.
func TestAnswersAreShort(t *testing.T) {
	w := newWorld(t, 1, mostAddresses, quiet())
	a := w.join(0, mostAddresses, nil)
	unknown := chunk.AppendField(nil, 0xc0de, make([]byte, 40)) // it is reported
	var more []byte
	for range 4 {
		init := initChunk(chunk.TypeInit, 99, more)
		_, reply := a.hand(netip.AddrPortFrom(address(1, 0), udpPort), address(0, 0), 0, init)
		require.NotEmpty(t, reply)
		require.LessOrEqual(t, len(reply)+28, 3*(chunk.HeaderSize+len(init)+28))
		more = append(more, unknown...)
	}
}
