//go:build linux

package netspace

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"golang.org/x/sys/unix"
)

func TestReasons(t *testing.T) {
	for _, c := range []struct {
		files  map[string]string
		number bool
		want   []string
	}{
		{files: nil, want: nil},
		{files: map[string]string{"/proc/sys/user/max_user_namespaces": "0"}, number: true,
			want: []string{"user.max_user_namespaces is 0: as the superuser, sysctl -w user.max_user_namespaces=15000"}},
		{files: map[string]string{"/proc/sys/user/max_user_namespaces": "100"}, number: true,
			want: []string{"too many namespaces are in use, or nested too deep: see sysctl user"}},
		{files: map[string]string{"/proc/sys/kernel/unprivileged_userns_clone": "0"},
			want: []string{"kernel.unprivileged_userns_clone is 0: as the superuser, sysctl -w kernel.unprivileged_userns_clone=1"}},
		{files: map[string]string{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1", "/proc/self/status": "Seccomp:\t2\n"},
			want: []string{"kernel.apparmor_restrict_unprivileged_userns is 1: as the superuser, sysctl -w kernel.apparmor_restrict_unprivileged_userns=0"}},
		{files: map[string]string{"/proc/self/status": "Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"},
			want: []string{"a filter of system calls, such as a container's, forbids it: start the container with --cap-add SYS_ADMIN," +
				" or with --security-opt seccomp=unconfined"}},
		{files: map[string]string{"/proc/self/status": "Seccomp:\t0\n"}},
	} {
		assert.Equal(t, c.want, reasons(func(file string) string { return c.files[file] }, c.number), "%v", c.files)
	}
}

func TestExplainLeavesOtherErrorsAlone(t *testing.T) {
	other := fmt.Errorf("no such interface: %w", unix.ENODEV)
	assert.Equal(t, other, Explain(other))
	var refused *UnavailableError
	assert.ErrorAs(t, Explain(fmt.Errorf("clone: %w", unix.EPERM)), &refused)
	assert.ErrorIs(t, refused, unix.EPERM)
	assert.ErrorContains(t, &UnavailableError{Cause: unix.EPERM}, "run it as the superuser, or ask who runs this machine to allow user namespaces")
}
