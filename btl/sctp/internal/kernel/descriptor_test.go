//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// sockets counts this process's, by /proc.
func sockets(t *testing.T) int {
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	n := 0
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil && strings.HasPrefix(to, "socket:") {
			n++
		}
	}
	return n
}

// Sixteen stacks that all talk to each other have sixteen sockets, one each.
func TestKernelOneDescriptor(t *testing.T) {
	l := &loop{t: t}
	const size = 16
	before := sockets(t)
	var nodes []*node
	for range size {
		nodes = append(nodes, newNode(l))
	}
	for i, n := range nodes {
		for _, m := range nodes[:i] {
			n.call(m)
		}
	}
	l.until("all are joined", func() bool {
		for i, n := range nodes {
			if len(n.accepted) != size-1-i {
				return false
			}
		}
		return true
	})
	for _, n := range nodes {
		for _, p := range n.accepted {
			require.Equal(t, btl.Done, p.a.Send(1, 0, []byte("hello"), nil))
		}
	}
	l.until("all have heard all", func() bool {
		heard := 0
		for _, n := range nodes {
			for _, a := range n.assocs {
				heard += a.handler.(*peer).count
			}
		}
		return heard == size*(size-1)/2
	})
	assert.Equal(t, before+size, sockets(t))
}
