//go:build unix && !linux

package local

// killFirst does nothing.
func killFirst(int) {}

// OutOfMemory returns 0: the system does not say.
func OutOfMemory() int { return 0 }
