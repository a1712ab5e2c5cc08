//go:build unix && !linux

package job

// keepReaderRunning does nothing here: a launcher that is put into the background between a look
// and the read is stopped.
func keepReaderRunning() {}
