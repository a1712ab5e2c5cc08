package reach

import (
	"bytes"
	"os"

	"golang.org/x/sys/unix"
)

// runningSystem returns the boot id, nil if it can not be read.
func runningSystem() []byte {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return nil
	}
	return bytes.TrimSpace(boot)
}

// networkNamespace returns a number that tells the network namespace of this
// thread from all others on this machine. Linux 5.14 has a cookie for it; before
// that the inode of the namespace serves.
func networkNamespace() (uint64, bool) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		defer unix.Close(fd)
		if cookie, err := unix.GetsockoptUint64(fd, unix.SOL_SOCKET, unix.SO_NETNS_COOKIE); err == nil {
			return cookie, true
		}
	}
	var st unix.Stat_t
	if err := unix.Stat("/proc/thread-self/ns/net", &st); err != nil {
		return 0, false
	}
	return st.Ino, true
}
