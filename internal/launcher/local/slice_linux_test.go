package local

import (
	"errors"
	"os/exec"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A rank that is woken comes to run soon, where the system has slices for each.
func TestRanksHaveShortSlices(t *testing.T) {
	runtime.LockOSThread() // and never unlocked: the thread ends with the test
	own := func() *unix.SchedAttr {
		attr, err := unix.SchedGetAttr(0, 0)
		require.NoError(t, err)
		return attr
	}
	chosen, before := *own(), own().Runtime
	if before == 0 { // this system has one slice for all: before Linux 6.12
		require.NoError(t, sliced(exec.Command("true").Run))
		return
	}
	for _, tc := range []struct{ own, theirs uint64 }{
		{0, rankSlice}, // the system's
		{5_000_000, 5_000_000},
	} {
		chosen.Runtime = tc.own
		require.NoError(t, unix.SchedSetAttr(0, &chosen, 0))
		was := own().Runtime
		require.NoError(t, sliced(func() error {
			require.Equal(t, tc.theirs, own().Runtime, "and a child inherits it")
			return exec.Command("true").Run()
		}))
		require.Equal(t, was, own().Runtime)
		failed := errors.New("it did not start")
		require.ErrorIs(t, sliced(func() error { return failed }), failed)
		require.Equal(t, was, own().Runtime)
	}
	require.NotEqual(t, before, uint64(rankSlice))
}
