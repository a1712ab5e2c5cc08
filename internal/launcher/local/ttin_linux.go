package local

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepReaderRunning has the calling goroutine's reads of a terminal fail where they would
// stop the launcher, and all of its group: it may be put into the background between a look and
// the read. The goroutine keeps its thread, which ends with it.
func keepReaderRunning() {
	runtime.LockOSThread()
	var blocked unix.Sigset_t
	bits := 8 * int(unsafe.Sizeof(blocked.Val[0]))
	blocked.Val[(int(unix.SIGTTIN)-1)/bits] |= 1 << ((int(unix.SIGTTIN) - 1) % bits)
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil)
}
