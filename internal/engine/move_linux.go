package engine

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
)

// moveAway has the calling thread run on another processor than the present one, and than those
// that are taken, if it may use another: the only way to say so is to forbid it the present one for
// a moment. The goroutine keeps its thread until that is over: another one would be allowed what this one
// was, and this one would stay where it is for good.
func moveAway(taken *btl.Processors) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var allowed unix.CPUSet
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return
	}
	cpu, ok := processor()
	if !ok || !allowed.IsSet(cpu) {
		return
	}
	others, some := free(allowed, cpu, taken)
	if some && unix.SchedSetaffinity(0, &others) == nil {
		_ = unix.SchedSetaffinity(0, &allowed) // it was allowed a moment ago
	}
}

// bound reports whether the calling thread may use one processor only.
func bound() bool {
	var allowed unix.CPUSet
	return unix.SchedGetaffinity(0, &allowed) == nil && allowed.Count() == 1
}

// free are the processors but the present one that are allowed and not taken, and whether there are any.
func free(allowed unix.CPUSet, present int, taken *btl.Processors) (unix.CPUSet, bool) {
	allowed.Clear(present)
	for i := range len(taken) * 64 {
		if taken.Has(i) {
			allowed.Clear(i)
		}
	}
	return allowed, allowed.Count() > 0
}

// processor is the number of the one that the calling thread runs on.
func processor() (int, bool) {
	var cpu uint32
	_, _, errno := unix.RawSyscall(unix.SYS_GETCPU, uintptr(unsafe.Pointer(&cpu)), 0, 0)
	return int(cpu), errno == 0
}
