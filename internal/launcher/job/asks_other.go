//go:build !linux

package job

// heedStops does nothing: these systems do not say by which signal a child is stopped without taking that from who waits for its end.
func (j *job) heedStops() {}
