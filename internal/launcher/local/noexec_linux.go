package local

import "golang.org/x/sys/unix"

// noexec reports whether a file is in a file system of which nothing may be run.
func noexec(path string) bool {
	var fs unix.Statfs_t
	return unix.Statfs(path, &fs) == nil && fs.Flags&unix.ST_NOEXEC != 0
}
