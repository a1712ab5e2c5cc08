package local

import (
	"errors"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// The monitor of a rank's runtime wakes seldom: its sleeps have more slack than the system gives.
func TestRanksHaveSlack(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	slack := func() int {
		now, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		require.NoError(t, err)
		return now
	}
	for _, tc := range []struct {
		own    uintptr
		theirs string
	}{
		{systemSlack, "1000000\n"},
		{70_000, "70000\n"}, // the user has chosen it
	} {
		require.NoError(t, unix.Prctl(unix.PR_SET_TIMERSLACK, tc.own, 0, 0, 0))
		require.NoError(t, slackened(func() error {
			said, err := exec.Command("cat", "/proc/self/timerslack_ns").Output()
			require.Equal(t, tc.theirs, string(said))
			return err
		}))
		require.EqualValues(t, tc.own, slack())
		failed := errors.New("it did not start")
		require.ErrorIs(t, slackened(func() error { return failed }), failed)
		require.EqualValues(t, tc.own, slack())
	}
}
