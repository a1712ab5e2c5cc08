package job

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// keepReaderRunning blocks SIGTTIN for the calling goroutine. The launcher may be put into the
// background between a look and the read. The read then fails, and does not stop the launcher
// and all of its group. The goroutine keeps its thread, which ends with it.
func keepReaderRunning() {
	runtime.LockOSThread()
	var blocked unix.Sigset_t
	bits := 8 * int(unsafe.Sizeof(blocked.Val[0]))
	blocked.Val[(int(unix.SIGTTIN)-1)/bits] |= 1 << ((int(unix.SIGTTIN) - 1) % bits)
	_ = unix.PthreadSigmask(unix.SIG_BLOCK, &blocked, nil)
}
