//go:build !linux

package engine

// moveAway does nothing: this system has no way to say so.
func moveAway() {}
