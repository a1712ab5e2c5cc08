package strandcmd

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// suspend stops this process as SIGTSTP does by default, and returns when it goes on. Where
// nobody could continue it, the kernel does not stop it, and suspend returns at once.
func suspend() {
	// The runtime keeps its own handler even if nobody asks for the signal any more, so the
	// default is set here, past it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	// A struct sigaction of zeros says SIG_DFL. Its length differs by processor; these 256 bytes
	// are more than any needs.
	var byDefault, before [32]uint64
	size := uintptr(8) // of a set of signals
	if runtime.GOARCH == "mips" || runtime.GOARCH == "mipsle" || runtime.GOARCH == "mips64" || runtime.GOARCH == "mips64le" {
		size = 16
	}
	action := func(set, get *[32]uint64) bool {
		_, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(unix.SIGTSTP), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), size, 0, 0)
		return e == 0
	}
	if action(&byDefault, &before) {
		_ = unix.Tgkill(unix.Getpid(), unix.Gettid(), unix.SIGTSTP) // to this thread, so that it stops before the call returns
		action(&before, nil)
	}
}
