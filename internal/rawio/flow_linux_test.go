package rawio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A window is no larger than what the peer takes, whatever congestion control says.
func TestWindowOfAPeerWithASmallBuffer(t *testing.T) {
	x, y := connected(t, "127.0.0.1:0")
	before, known := FlowOf(x.FD())
	require.True(t, known)
	require.Greater(t, before.Window, 1<<14)
	require.NoError(t, SetReceiveBuffer(y.FD(), 1<<12))
	size, err := ReceiveBuffer(y.FD())
	require.NoError(t, err)
	// The peer can not take back the window that it has once offered. It has to be used up.
	b := make([]byte, 1<<10)
	for range 1 << 10 {
		n, errno := x.Send(b)
		require.Zero(t, errno)
		receive(t, y, n)
	}
	after, known := FlowOf(x.FD())
	require.True(t, known)
	require.Positive(t, after.Window)
	require.LessOrEqual(t, after.Window, 2*size, "the kernel keeps twice as much as it says")
}
