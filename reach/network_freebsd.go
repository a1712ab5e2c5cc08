package reach

import (
	"strings"

	"golang.org/x/sys/unix"
)

// runningSystem returns what names this run of the system, since FreeBSD 14, or else
// this machine; nil if neither can be read.
func runningSystem() []byte {
	if boot, err := unix.SysctlRaw("kern.boot_id"); err == nil {
		return boot
	}
	host, err := unix.Sysctl("kern.hostuuid")
	if err != nil || strings.Trim(host, "0-") == "" {
		return nil
	}
	return []byte(host)
}

// networkNamespace returns 0 for the host itself. A jail may have a network of its
// own, or some addresses of the host's and its loopback under another name; which of
// these it is, and whose, is not told.
func networkNamespace() (uint64, bool) {
	jailed, err := unix.SysctlUint32("security.jail.jailed")
	return 0, err == nil && jailed == 0
}
