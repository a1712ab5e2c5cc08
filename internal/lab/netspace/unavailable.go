//go:build linux

package netspace

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// An UnavailableError says that this user can not have namespaces here, and what
// would have to be different.
type UnavailableError struct {
	Cause   error
	Reasons []string // what was found to forbid it, each with its remedy; may be empty
}

func (e *UnavailableError) Error() string {
	reasons := "run it as the superuser, or ask who runs this machine to allow user namespaces"
	if len(e.Reasons) > 0 {
		reasons = strings.Join(e.Reasons, "; ")
	}
	return fmt.Sprintf("no networks of its own for this user (%d): %v: %s", os.Geteuid(), e.Cause, reasons)
}

func (e *UnavailableError) Unwrap() error { return e.Cause }

// Explain turns an error that says that this user may not do something into an
// [UnavailableError]. It returns any other error as it is.
func Explain(err error) error {
	for _, refusal := range []error{unix.EPERM, unix.ENOSPC, unix.EUSERS} {
		if errors.Is(err, refusal) {
			return &UnavailableError{Cause: err, Reasons: reasons(readSystem, errors.Is(err, unix.ENOSPC))}
		}
	}
	return err
}

// limits are kernel variables that forbid namespaces when they have this value.
var limits = []struct {
	file, forbids, remedy string
	ofNumber              bool // its error is "no space left"
}{
	{"/proc/sys/user/max_user_namespaces", "0", "sysctl -w user.max_user_namespaces=15000", true},
	{"/proc/sys/user/max_net_namespaces", "0", "sysctl -w user.max_net_namespaces=15000", true},
	{"/proc/sys/user/max_pid_namespaces", "0", "sysctl -w user.max_pid_namespaces=15000", true},
	{"/proc/sys/kernel/unprivileged_userns_clone", "0", "sysctl -w kernel.unprivileged_userns_clone=1", false},
	{"/proc/sys/kernel/apparmor_restrict_unprivileged_userns", "1", "sysctl -w kernel.apparmor_restrict_unprivileged_userns=0", false},
}

// reasons looks for what forbids namespaces.
func reasons(read func(file string) string, number bool) (found []string) {
	for _, l := range limits {
		if read(l.file) == l.forbids {
			name := strings.ReplaceAll(strings.TrimPrefix(l.file, "/proc/sys/"), "/", ".")
			found = append(found, fmt.Sprintf("%s is %s: as the superuser, %s", name, l.forbids, l.remedy))
		}
	}
	switch {
	case len(found) > 0:
	case number:
		found = append(found, "too many namespaces are in use, or nested too deep: see sysctl user")
	case filtered(read("/proc/self/status")):
		found = append(found, "a filter of system calls, such as a container's, forbids it: start the container with --cap-add SYS_ADMIN,"+
			" or with --security-opt seccomp=unconfined")
	}
	return found
}

// filtered tells whether /proc/self/status speaks of a seccomp filter.
func filtered(status string) bool {
	for line := range strings.Lines(status) {
		if name, value, _ := strings.Cut(line, ":"); name == "Seccomp" {
			return strings.TrimSpace(value) == "2"
		}
	}
	return false
}

// readSystem returns a file's contents, or "" if there is none.
func readSystem(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}
