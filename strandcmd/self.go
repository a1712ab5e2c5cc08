package strandcmd

import (
	"os"
	"os/exec"
	"path/filepath"
)

// executable returns the path of this program. Linux tells it in /proc. Where that is not mounted, as in a chroot, it is
// where the shell has found the program.
func executable() (string, error) {
	path, err := os.Executable()
	if err == nil {
		return path, nil
	}
	if path, missing := exec.LookPath(os.Args[0]); missing == nil {
		return filepath.Abs(path)
	}
	return "", err
}
