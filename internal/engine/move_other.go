//go:build !linux

package engine

// moveAway does nothing: this system has no way to say so.
func moveAway() {}

// processor is not known.
func processor() (int, bool) { return 0, false }
