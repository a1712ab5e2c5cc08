package strandcmd

import "os"

// self returns the path by which this program starts itself. The path also works on emulated
// hosts, and where the program's directory is closed to this user.
func self() (string, error) {
	const link = "/proc/self/exe"
	if _, err := os.Lstat(link); err != nil {
		return executable()
	}
	return link, nil
}
