package rawio

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A connection that always had more to send knows its speed, and one that has sent nothing does not.
func TestSpeedOfAConnection(t *testing.T) {
	x, y := connected(t, "127.0.0.1:0")
	require.Zero(t, SpeedOf(x.FD()))
	b, into := make([]byte, 1<<20), make([]byte, 64<<10)
	for round := 0; SpeedOf(x.FD()) == 0; round++ {
		require.Less(t, round, 10_000, "it is never told")
		for {
			if n, _ := x.Send(b); n < len(b) {
				break // the system has no more room
			}
		}
		_, _ = y.Recv(into)
	}
	require.Greater(t, SpeedOf(x.FD()), int64(1<<20))
}
