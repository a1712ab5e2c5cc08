//go:build amd64 || arm64

package conformance

// goroutine returns a number that tells the calling goroutine from all others that live. The
// suite has to know who calls, at each call. Go itself tells only by [runtime.Stack], which would
// cost more than all else that the suite does.
func goroutine() uintptr
