//go:build linux

package netspace_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/need"
)

// forbidden plays a part in a user namespace of its own, whose limits it can set
// without touching the machine's, and returns what it says.
func forbidden(t *testing.T, role string) string {
	need.Users(t)
	cmd := player(role)
	all := []syscall.SysProcIDMap{{ContainerID: 0, HostID: 0, Size: 65535}}
	cmd.SysProcAttr.Cloneflags = unix.CLONE_NEWUSER
	cmd.SysProcAttr.UidMappings, cmd.SysProcAttr.GidMappings = all, all
	cmd.SysProcAttr.GidMappingsEnableSetgroups = true
	out, err := cmd.CombinedOutput()
	need.That(t, cmd.ProcessState != nil, "needs user namespaces: %v", err)
	assert.Equal(t, 99, cmd.ProcessState.ExitCode(), "%s", out)
	return string(out)
}

func TestWhereUserNamespacesAreForbidden(t *testing.T) {
	assert.Regexp(t, `^no networks of its own for this user \(65534\): .*no space left on device: `+
		`user\.max_user_namespaces is 0: as the superuser, sysctl -w user\.max_user_namespaces=15000\n$`, forbidden(t, "without max_user_namespaces"))
}

func TestWhereNetworkNamespacesAreForbidden(t *testing.T) {
	assert.Contains(t, forbidden(t, "without max_net_namespaces"), "user.max_net_namespaces is 0: as the superuser, sysctl -w user.max_net_namespaces=15000")
}
