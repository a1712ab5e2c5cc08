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
	of := func(pid int) *unix.SchedAttr {
		attr, err := unix.SchedGetAttr(pid, 0)
		require.NoError(t, err)
		return attr
	}
	own := func() *unix.SchedAttr { return of(0) }
	chosen := *own()
	if chosen.Runtime == 0 { // this system has one slice for all: before Linux 6.12
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
		require.NotEqual(t, uint64(rankSlice), was)
		require.NoError(t, sliced(func() error {
			rank := exec.Command("cat") // for as long as its input is open
			in, err := rank.StdinPipe()
			require.NoError(t, err)
			require.NoError(t, rank.Start())
			require.Equal(t, tc.theirs, of(rank.Process.Pid).Runtime)
			require.NoError(t, in.Close())
			return rank.Wait()
		}))
		require.Equal(t, was, own().Runtime)
		failed := errors.New("it did not start")
		require.ErrorIs(t, sliced(func() error { return failed }), failed)
		require.Equal(t, was, own().Runtime)
	}
}
