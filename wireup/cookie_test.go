package wireup

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A cookie is good for whom it was made, for half a minute at least and a minute at most, and
// nothing else is good.
func TestCookieIsGoodForOneAndForAWhile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		address := rapid.Custom(func(t *rapid.T) netip.AddrPort {
			ip := rapid.SampledFrom([]string{"10.0.0.1", "10.0.0.2", "::ffff:10.0.0.3", "fd00::1", "fe80::1%eth0"}).Draw(t, "ip")
			return netip.AddrPortFrom(netip.MustParseAddr(ip), rapid.Uint16().Draw(t, "port"))
		})
		var c cookies
		start := rapid.Int64Range(1, int64(time.Hour)).Draw(t, "start")
		c.check(start, netip.AddrPort{}, nil, nil, 0) // keys are made
		at := start + rapid.Int64Range(0, int64(5*time.Minute)).Draw(t, "at")
		from, attempt := address.Draw(t, "from"), rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "attempt")
		answer, good := c.check(at, from, attempt, nil, CookieSize)
		require.False(t, good)
		own := bytes.Clone(answer)
		other := c

		later := at + rapid.Int64Range(0, int64(3*time.Minute)).Draw(t, "later")
		answer, good = c.check(later, from, attempt, own, 0)
		require.Nil(t, answer)
		switch age := time.Duration(later - at); {
		case age < keyTime:
			require.True(t, good, "after %v", age)
		case age >= 2*keyTime:
			require.False(t, good, "after %v", age)
		}

		shown, whose, which := bytes.Clone(own), from, bytes.Clone(attempt)
		switch rapid.IntRange(0, 4).Draw(t, "what differs") {
		case 0:
			shown[rapid.IntRange(0, len(shown)-1).Draw(t, "byte")] ^= byte(1 << rapid.IntRange(0, 7).Draw(t, "bit"))
		case 1:
			shown = shown[:rapid.IntRange(0, len(shown)-1).Draw(t, "length")]
		case 2:
			shown = append(shown, 0)
		case 3:
			if whose = address.Draw(t, "whose"); whose.Addr().Unmap() == from.Addr().Unmap() && whose.Port() == from.Port() {
				return
			}
		case 4:
			which = append(which, 0)
		}
		_, good = other.check(at, whose, which, shown, 0)
		require.False(t, good)
	})
}

// However old the key is, a cookie made now is good for half a minute.
func TestCookieIsGoodForHalfAMinute(t *testing.T) {
	for at := range int64(200) {
		var c cookies
		c.check(1, netip.AddrPort{}, nil, nil, 0) // a key is made
		answer, _ := c.check(at*int64(time.Second), netip.AddrPort{}, nil, nil, CookieSize)
		_, good := c.check((at+30)*int64(time.Second)-1, netip.AddrPort{}, nil, bytes.Clone(answer), 0)
		require.True(t, good, at)
	}
}

// The mapped form of an address is the same address: a socket for both families may say either.
func TestCookieOfAMappedAddress(t *testing.T) {
	var c cookies
	answer, _ := c.check(1, netip.MustParseAddrPort("10.0.0.1:7"), nil, nil, CookieSize)
	_, good := c.check(1, netip.MustParseAddrPort("[::ffff:10.0.0.1]:7"), nil, bytes.Clone(answer), 0)
	require.True(t, good)
}

// No answer is longer than the question.
func TestCookieIsNotLongerThanTheQuestion(t *testing.T) {
	var c cookies
	for room := range 2 * CookieSize {
		answer, good := c.check(1, netip.AddrPort{}, nil, nil, room)
		require.False(t, good)
		require.LessOrEqual(t, len(answer), room)
		require.Equal(t, room >= CookieSize, answer != nil)
	}
}

// Strangers by the hundred thousand, each at an address of its own that is mostly forged, leave
// nothing behind and cost no memory, and a member is let in meanwhile.
func TestAFloodLeavesNothing(t *testing.T) {
	m := newModel(t, 1, trait{oneWay: -1, lossy: true, cookie: true}, Config{Retries: 1, ConnectTimeout: time.Minute, HandshakeTimeout: time.Minute})
	victim := m.ranks[1]
	const hello = 108 // bytes
	n := uint32(0)
	var attempt, forged [CookieSize]byte
	knock := func() {
		n++
		binary.BigEndian.PutUint32(attempt[:], n)
		var ip [4]byte
		binary.BigEndian.PutUint32(ip[:], n*2654435761)
		answer, good := victim.manager.Cookie(netip.AddrPortFrom(netip.AddrFrom4(ip), uint16(n)), attempt[:], forged[:n%(CookieSize+1)], hello)
		if good || len(answer) != CookieSize {
			t.Fatalf("stranger %d gets %x (%v)", n, answer, good)
		}
		copy(forged[:], answer) // the next one shows that of another
	}
	knock()
	events := len(m.events)
	require.Zero(t, testing.AllocsPerRun(100_000, knock))
	require.Equal(t, events, len(m.events), "no timer")
	require.Zero(t, victim.manager.Count())
	require.Empty(t, victim.manager.slots)
	require.Empty(t, m.wires)

	m.ranks[0].want()
	for at := time.Duration(1); at < 3*time.Second; at += time.Millisecond {
		m.run(at)
		for range 100 {
			knock()
		}
		require.LessOrEqual(t, victim.manager.Count(), 1, "the member")
	}
	m.agree()
	require.Empty(t, slotsBut(victim.manager, 0))
	m.close()
}

// slotsBut lists what a manager knows of all ranks but one.
func slotsBut(m *Manager, rank int) (keys []slotKey) {
	for k := range m.slots {
		if k.rank != rank {
			keys = append(keys, k)
		}
	}
	return keys
}

// A side that somebody asks again and again says its hello a few times, not each time.
func TestWhoAsksForCookiesGetsFewHellos(t *testing.T) {
	m := newModel(t, 1, trait{oneWay: -1, lossy: true, cookie: true}, Config{Retries: 1, ConnectTimeout: time.Minute, HandshakeTimeout: time.Minute})
	r := m.ranks[0]
	r.knows = true
	r.want()
	m.run(1)
	e := m.wires[0].ends[0]
	e.w.deaf = true
	l := &counting{Link: e}
	e.pending.link = l
	for range 1000 {
		e.receive(packet{asks: make([]byte, CookieSize)})
	}
	require.Equal(t, mostAsked, l.sent)
}

type counting struct {
	Link
	sent int
}

func (c *counting) Send([]byte) error { c.sent++; return nil }
