//go:build unix && !linux

package local

// keepReaderRunning does nothing: who is put into the background between a look and the read is
// stopped.
func keepReaderRunning() {}
