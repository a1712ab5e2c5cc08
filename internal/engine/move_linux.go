package engine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// moveAway has the calling thread run on another processor than the present one,
// if it may use another: the only way to say so is to forbid it the present one for
// a moment. The goroutine keeps its thread until that is over: another one would be allowed what this one
// was, and this one would stay where it is for good.
func moveAway() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return
	}
	cpu, ok := processor()
	if !ok || !allowed.IsSet(cpu) || allowed.Count() < 2 {
		return
	}
	others := allowed
	others.Clear(cpu)
	if unix.SchedSetaffinity(0, &others) == nil {
		_ = unix.SchedSetaffinity(0, &allowed) // it was allowed a moment ago
	}
}

// processor is the number of the one that the calling thread runs on.
func processor() (int, bool) {
	var cpu uint32
	_, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu), errno == 0
}
