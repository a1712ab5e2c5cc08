//go:build !linux

package bench

import "time"

// threadTime is the time that passes, since this system does not tell what a thread has used.
func threadTime() time.Duration { return now() }
