//go:build amd64 || arm64

package conformance

// goroutine tells the calling goroutine from all others that live. The suite has to know who
// calls, at each call, and Go itself tells only by [runtime.Stack], which would cost more
// than all else that the suite does.
func goroutine() uintptr
