package interop

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/testnet"
)

// A twin is two hosts with two networks between them: we are on one host, the peer is on the other.
type twin struct {
	hosts []*testnet.Host
	links []*testnet.Link
	us    []netip.Addr
	peer  place
}

func newTwin(t testing.TB) *twin {
	n := testnet.New(t)
	w := &twin{hosts: []*testnet.Host{n.Host("a"), n.Host("b")}}
	w.peer.host = w.hosts[1]
	for i := range 2 {
		l := n.Link(w.hosts[0], w.hosts[1], testnet.Subnet(fmt.Sprintf("10.%d.0.0/24", 1+i)))
		w.links = append(w.links, l)
		w.us = append(w.us, l.A.Addr(0))
		w.peer.addrs = append(w.peer.addrs, l.B.Addr(0))
	}
	return w
}

// meet makes an association over both networks, and waits until both paths are up.
func (w *twin) meet(t testing.TB, kind string, p peer, weOpen bool) *party {
	s := openSide(t, kind, w.hosts[0], forPeer(p), func(c *stack.Config) {
		c.Local, c.PathMaxRetrans, c.Heartbeat = w.us, 2, 200*time.Millisecond
		c.RTOInitial, c.RTOMin, c.RTOMax = 200*time.Millisecond, 100*time.Millisecond, time.Second
	})
	var us *party
	if weOpen {
		var pairs []stack.Pair
		port := p.listen(t, w.peer)
		for i, a := range w.us {
			pairs = append(pairs, stack.Pair{Local: a, Remote: netip.AddrPortFrom(w.peer.addrs[i], port)})
		}
		us = s.call(pairs...)
	} else {
		var to []netip.AddrPort
		for _, a := range w.us {
			to = append(to, netip.AddrPortFrom(a, s.Port()))
		}
		p.open(t, w.peer, to...)
		us = s.comes()
	}
	w.bothUp(us)
	return us
}

func (w *twin) bothUp(us *party) {
	us.side.t.Helper()
	us.side.until("both paths to be up", func() bool { return w.up(us, 0) && w.up(us, 1) })
}

// up reports whether the path over a network is.
func (w *twin) up(us *party, network int) bool {
	for _, p := range us.a.Paths() {
		if strings.HasPrefix(p.Desc, w.us[network].String()) {
			return p.Up
		}
	}
	return false
}

// multihoming is that either side knows both addresses of the other, and answers heartbeats at each of its own.
func multihoming(t testing.TB, kind string, p peer, weOpen bool) string {
	w := newTwin(t)
	us := w.meet(t, kind, p, weOpen)
	assert.Len(t, us.a.Paths(), 2)
	echo(t, us, 1, 5000, 200_000)
	return ""
}

// failover: heartbeats find out that an idle network is dead, and that it is back, and messages go over the other one
// meanwhile. Nothing is lost, or comes twice, of what goes while a network dies.
func failover(t testing.TB, kind string, p peer, weOpen bool) string {
	w := newTwin(t)
	us := w.meet(t, kind, p, weOpen)
	for i, l := range w.links {
		begun := time.Now()
		l.Loss(1)
		us.side.until("heartbeats to find out that a network is dead", func() bool { return !w.up(us, i) })
		dead := time.Since(begun)
		echo(t, us, 1, 5000, 30_000)
		echoed := time.Since(begun)
		l.Loss(0)
		w.bothUp(us)
		t.Logf("network %d: dead after %v, echoes after %v, back after %v", i, dead, echoed-dead, time.Since(begun)-echoed)
	}
	w.busy(us)
	return ""
}

// busy has a network die while messages go, and the other one while messages come.
func (w *twin) busy(us *party) {
	t := us.side.t
	const count = 100
	want, b := expected(count, bulkSize), make([]byte, bulkSize)
	for n := range count {
		if n == count/2 {
			w.links[0].Loss(1)
		}
		fill(b, uint32(n))
		us.send(uint16(1+n%10), b)
	}
	require.Equal(t, want, us.counted(want.messages), "what the peer has counted")
	w.links[0].Loss(0)
	w.bothUp(us)
	us.send(0, generate(count, bulkSize, 10))
	us.side.until("half of what the peer sends", func() bool { return us.messages >= count/2 })
	w.links[1].Loss(1)
	us.side.until("all that the peer sends", func() bool { return us.messages >= count })
	require.Equal(t, want, us.tally, "what we have counted")
	require.NoError(t, us.down)
}
