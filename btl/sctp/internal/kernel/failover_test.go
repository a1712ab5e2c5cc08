//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// Two networks, one of which dies while messages flow: all come, once and in
// order, over the other; the path is told to be down, and up again when it is.
func TestKernelFailover(t *testing.T) {
	need.KernelSCTP(t)
	for name, cut := range map[string]struct{ die, heal func(*testnet.Link) }{
		"all lost": {func(l *testnet.Link) { l.Loss(1) }, func(l *testnet.Link) { l.Loss(0) }},
		"down":     {(*testnet.Link).Down, (*testnet.Link).Up},
	} {
		net := testnet.New(t)
		hosts := []*testnet.Host{net.Host("a"), net.Host("b")}
		first := net.Link(hosts[0], hosts[1], testnet.Subnet("10.1.0.0/24"))
		second := net.Link(hosts[0], hosts[1], testnet.Subnet("10.2.0.0/24"))
		l := &loop{t: t}
		var nodes []*node
		for i, h := range hosts {
			local := []netip.Addr{[]*testnet.NIC{first.A, first.B}[i].Addr(0), []*testnet.NIC{second.A, second.B}[i].Addr(0)}
			require.NoError(t, h.Do(func() error {
				nodes = append(nodes, newNode(l, func(c *stack.Config) {
					c.Local, c.PathMaxRetrans, c.Heartbeat = local, 2, 200*time.Millisecond
				}))
				return nil
			}))
		}
		here, there := nodes[0].join(nodes[1])
		l.until("both paths are confirmed", func() bool { return len(here.a.Paths()) == 2 && !here.a.paths.anyDown() })

		const messages = 3000
		sent := uint32(0)
		last, gap := time.Now(), time.Duration(0)
		seen := 0
		flow := func(until uint32) func() bool {
			return func() bool {
				for sent < until && here.a.Send(1, 0, binary.LittleEndian.AppendUint32(nil, sent), &btl.Frame{Payload: make([]byte, 500), Size: 500}) == btl.Done {
					sent++
				}
				if there.count > seen {
					gap, last, seen = max(gap, time.Since(last)), time.Now(), there.count
				}
				return there.count == int(until)
			}
		}
		l.until("a third has come", flow(messages/3))
		before, told := here.a.Congestion()
		require.True(t, told)
		assert.Positive(t, before.Window)
		assert.Positive(t, before.Timeout)
		cut.die(first)
		l.until("all have come", flow(messages))
		for i, m := range there.messages {
			require.Equal(t, uint32(i), binary.LittleEndian.Uint32(m.data), name)
		}
		require.NoError(t, here.ended, name)
		after, _ := here.a.Congestion()
		assert.Positive(t, after.Window)
		if name == "all lost" { // else the kernel may know before it sends
			assert.Greater(t, after.Resent, before.Resent, "what was lost was not counted as sent again")
		}
		l.until("the path is told to be down", func() bool { return here.a.paths.anyDown() })
		cut.heal(first)
		l.until("the path is told to be up", func() bool { return !here.a.paths.anyDown() })
		states := here.paths
		require.NotEmpty(t, states)
		assert.True(t, states[len(states)-1].Up)
		t.Logf("%s: longest gap %v, %d messages, none lost", name, gap, messages)
		for _, n := range nodes {
			require.NoError(t, n.Close())
		}
	}
}
