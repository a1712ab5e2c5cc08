package tcp

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// sysctl reads a limit of the kernel's.
func sysctl(t *testing.T, name string) int {
	t.Helper()
	b, err := os.ReadFile("/proc/sys/" + strings.ReplaceAll(name, ".", "/"))
	require.NoError(t, err)
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	require.NoError(t, err)
	return n
}

// Less than was asked for is told once, with what to do about it.
func TestBuffersThatTheKernelCuts(t *testing.T) {
	const limit = "net.core.wmem_max"
	asked := sysctl(t, limit) + 4096
	n := newNode(t, 0, 2, set(pSndbuf, strconv.Itoa(asked)), set(pRcvbuf, "64K"))
	b := newNode(t, 1, 2)
	n.reach(b).connected()
	lines := n.logged(btl.LogWarn)
	require.Len(t, lines, 1, "once, and not for each connection")
	require.Contains(t, lines[0], pSndbuf+"="+strconv.Itoa(asked)+" from")
	require.Contains(t, lines[0], "asked for "+strconv.Itoa(asked)+" bytes, got "+strconv.Itoa(asked-4096))
	require.Contains(t, lines[0], "sysctl -w "+limit+"="+strconv.Itoa(asked))
}

// Both ends have the sizes that the user wants, the accepting one too.
func TestBuffersAreSet(t *testing.T) {
	size := []option{set(pSndbuf, "32K"), set(pRcvbuf, "48K")}
	a, b := newNode(t, 0, 2, size...), newNode(t, 1, 2, size...)
	a.reach(b).connected()
	b.until("the connection", func() bool { return b.peers[0] != nil && b.peers[0].ups == 1 })
	require.Empty(t, a.logged(btl.LogWarn))
	for _, n := range []*node{a, b} {
		fds := []int{n.mod.listeners[0].fd, n.peers[1-n.rank].ep.conn.FD()}
		for _, fd := range fds {
			sent, err := rawio.SendBuffer(fd)
			require.NoError(t, err)
			received, err := rawio.ReceiveBuffer(fd)
			require.NoError(t, err)
			require.Equal(t, []int{32 << 10, 48 << 10}, []int{sent, received})
		}
	}
}
