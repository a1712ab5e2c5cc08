package wireup

import (
	"fmt"
	"io"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAttempts(t *testing.T) {
	refused, silent := syscall.ECONNREFUSED, fmt.Errorf("no answer in 10s: %w", syscall.ETIMEDOUT)
	e := &attempts{Took: 30_200 * time.Millisecond}
	e.Add(refused)
	require.Equal(t, 50*time.Millisecond, e.Pause())
	require.Equal(t, "connection refused", e.Error())
	e.Add(refused)
	require.Equal(t, "connection refused (2 attempts in 30.2 s)", e.Error())
	e.Add(silent)
	require.Equal(t, "3 attempts in 30.2 s: connection refused (2 times), then no answer in 10s: connection timed out", e.Error())
	require.ErrorIs(t, e, syscall.ETIMEDOUT)
	require.NotErrorIs(t, e, syscall.ECONNREFUSED, "they did not end with that")
	for i := range 100 {
		e.Add(fmt.Errorf("cause %d: %w", i, io.ErrUnexpectedEOF))
	}
	require.Equal(t, 103, e.Count())
	require.ErrorContains(t, e.Last(), "cause 99")
	require.Equal(t, 2*time.Second, e.Pause())
	require.Len(t, e.causes, mostCauses)
	require.Contains(t, e.Error(), "103 attempts in 30.2 s: cause 92")
}
