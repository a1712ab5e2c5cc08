package tryout

import (
	"net"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// unprivileged runs f on a thread that may not use the superuser's ports, and that ends with it.
func unprivileged(f func()) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var none [2]unix.CapUserData // in version 3 there are two
		err := unix.Capset(&unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}, &none[0])
		if err == nil {
			f()
		}
		done <- err
	}()
	return <-done
}

// A range of ports may begin with those of the superuser: the first free one of the others is taken, as a job does.
func TestPortsOfTheSuperuser(t *testing.T) {
	var l net.Listener
	var err error
	require.NoError(t, unprivileged(func() { l, err = listen(loopback().Addresses[0], Ports{First: 1020, Count: 200}) }))
	require.NoError(t, err)
	require.NoError(t, l.Close())

	require.NoError(t, unprivileged(func() { l, err = listen(loopback().Addresses[0], Ports{First: 2, Count: 2}) }))
	if err == nil { // this system gives them to anybody
		require.NoError(t, l.Close())
		return
	}
	require.ErrorIs(t, err, unix.EACCES)
}
