//go:build !linux

package trace

import (
	"errors"
	"os"
	"time"
)

// create makes a file without a name.
func create() (*os.File, error) {
	f, err := os.CreateTemp("", "strand-trace-")
	if err != nil {
		return nil, err
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// hostClock is now, by Go's clock and by the one that all processes of the host share.
func hostClock() (time.Time, int64) {
	now := time.Now()
	return now, now.UnixNano()
}
