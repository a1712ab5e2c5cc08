package machine

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
)

// A host may have no name, and there may be no /proc in which the standard library looks for another one.
func TestHostWithoutAName(t *testing.T) {
	need.Root(t)
	var name string
	require.NoError(t, netspace.OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWUTS | unix.CLONE_NEWNS); err != nil {
			return err
		}
		if err := unix.Sethostname(nil); err != nil {
			return err
		}
		name = Hostname()
		if name != Nameless {
			return nil
		}
		if err := unix.Mount("", "/", "", unix.MS_PRIVATE|unix.MS_REC, ""); err != nil {
			return err
		}
		if err := unix.Mount("tmpfs", "/proc", "tmpfs", 0, ""); err != nil {
			return err
		}
		name = Hostname()
		return nil
	}))
	assert.Equal(t, Nameless, name)
}
