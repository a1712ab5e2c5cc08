// Package openfiles explains errors for want of file descriptors: which limit
// was hit, what it is and how to raise it.
package openfiles

import (
	"errors"
	"fmt"
	"syscall"

	"golang.org/x/sys/unix"
)

// Exhausted reports whether an error says that no file can be opened any more.
func Exhausted(err error) bool {
	return errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE)
}

// Remedy says what was exhausted and what to do about it. Call it only with an error that
// [Exhausted] holds for.
func Remedy(err error) string {
	if errors.Is(err, syscall.ENFILE) {
		return "the whole system has no room for more open files: on Linux raise fs.file-max with sysctl"
	}
	limit := Limit()
	if limit == 0 {
		return "this process's limit of open files is reached: raise it with ulimit -n"
	}
	return fmt.Sprintf("this process may have %d open files: raise the limit with ulimit -n", limit)
}

// Limit returns how many files this process may have open, 0 if that is not known.
func Limit() int {
	var limit unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return int(min(uint64(limit.Cur), 1<<30))
}

// Explain adds the remedy to an error that [Exhausted] holds for. It returns other errors, and
// nil, as they are.
func Explain(err error) error {
	if !Exhausted(err) {
		return err
	}
	return fmt.Errorf("%w (%s)", err, Remedy(err))
}
