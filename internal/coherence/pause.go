//go:build amd64 || arm64

package coherence

// Pause waits for some tens of nanoseconds, and leaves what the processor has to another thread of it.
func Pause()
