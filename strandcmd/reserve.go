package strandcmd

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// reserve opens a folder for results and keeps others out of it who call reserve too, until it is closed, or until this process ends,
// however it does. They get the error taken. Where a file system has no locks nobody is kept out.
func reserve(dir string, taken error) (*os.File, error) {
	folder, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	if errors.Is(unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB), unix.EWOULDBLOCK) {
		folder.Close()
		return nil, usageError{taken}
	}
	return folder, nil
}
