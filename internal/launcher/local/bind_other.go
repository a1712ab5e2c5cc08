//go:build unix && !linux

package local

// bound calls start. These systems bind no process to a processor.
func bound(_ int, start func() error) error { return start() }

// Turn returns -1: these systems bind no process to a processor.
func Turn(bool, int) int { return -1 }
