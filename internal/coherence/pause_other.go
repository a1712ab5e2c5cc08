//go:build !amd64 && !arm64

package coherence

// Pause does nothing here.
func Pause() {}
