//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"io"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// All that an association has taken arrives, and its end, though every packet is lost until its
// process has closed everything: the kernel goes on. Unread messages change nothing about that.
func TestKernelReleased(t *testing.T) {
	need.KernelSCTP(t)
	for _, unread := range []int{0, 3} {
		net := testnet.New(t)
		hosts := []*testnet.Host{net.Host("a"), net.Host("b")}
		link := net.Link(hosts[0], hosts[1], testnet.Subnet("10.1.0.0/24"))
		l := &loop{t: t}
		var nodes []*node
		for i, h := range hosts {
			require.NoError(t, h.Do(func() error {
				nodes = append(nodes, newNode(l, func(c *stack.Config) {
					c.Local = []netip.Addr{[]*testnet.NIC{link.A, link.B}[i].Addr(0)}
				}))
				return nil
			}))
		}
		here, there := nodes[0].join(nodes[1])
		nodes[1].sleep(true)
		for range unread {
			require.Equal(t, btl.Done, here.a.Send(1, 0, []byte("unread"), nil))
		}
		l.until("the peer's kernel has it", func() bool { return here.a.Queued() == 0 })
		link.Loss(1)
		require.Equal(t, btl.Done, there.a.Send(0, 0, []byte("the last"), nil))
		there.a.Release()
		require.NoError(t, nodes[1].Close())
		link.Loss(0)
		l.until("the end", func() bool { return here.ended != nil })
		assert.ErrorIs(t, here.ended, io.EOF)
		require.Equal(t, 1, here.count)
		assert.Equal(t, "the last", string(here.messages[0].data))
		assert.NoError(t, there.ended, "nothing is called")
		assert.Zero(t, there.count)
		require.NoError(t, nodes[0].Close())
	}
}
