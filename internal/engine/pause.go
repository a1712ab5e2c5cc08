//go:build amd64 || arm64

package engine

// pause waits for some tens of nanoseconds, and leaves what the processor has to another thread of it.
func pause()
