package sctp

import (
	"net"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/flood"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
)

// Thousands of associations a second that never prove themselves: a member gets in beside
// them within a second, whether they come from another address or from its own, and from so many ports that
// all places are taken, or from one, whose association each of them begins anew.
func TestMemberAmongFlood(t *testing.T) {
	leak.Check(t)
	for _, test := range []struct {
		name, from string
		ports      int
	}{
		{"from another host", "127.0.0.9", 2 * mostStrangers},
		{"from the same host", "127.0.0.1", 2 * mostStrangers},
		{"from a port of another host", "127.0.0.9", 1},
		{"from a port of the same host", "127.0.0.1", 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			for trial := range need.Times(1, 20) {
				n := newNode(t, 0, with(pHandshakeTimeout, "10m")) // on a busy machine places are taken slowly
				f := flood.NewSCTP(target(n), floodRate, sockets(t, test.from, test.ports)...)
				full := min(test.ports, mostStrangers)
				await(t, "all places to be taken", func() bool { return n.mod.Wire.Count() == full && f.Made.Load() >= int64(full) }, n)
				later := time.Now().Add(time.Duration(100+trial*17) * time.Millisecond)
				await(t, "a moment in the midst of it", func() bool { return time.Now().After(later) }, n)
				started, made := time.Now(), f.Made.Load()
				member := newNode(t, 1)
				join(t, member, n)
				took := time.Since(started)
				t.Logf("in after %v, among %d others", took, f.Made.Load()-made)
				require.Empty(t, member.downs)
				if need.Soaking() {
					require.Less(t, took, time.Second)
				}
				f.End()
				member.send("one of us", 1, n)
				await(t, "its frame", func() bool { return len(n.frames) > 0 }, n, member)
			}
		})
	}
}

// target is where a node listens.
func target(n *node) netip.AddrPort {
	return netip.AddrPortFrom(n.mod.Local.Interfaces[0].Addr(), n.mod.Local.Port)
}

// sockets are UDP sockets of one address.
func sockets(t *testing.T, addr string, n int) (all []net.PacketConn) {
	for range n {
		c, err := net.ListenPacket("udp", net.JoinHostPort(addr, "0"))
		require.NoError(t, err)
		all = append(all, c)
	}
	return all
}
