//go:build race

package sealed

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// An Order tells the race detector that what was written to memory before Wrote happens before what follows Reads, where
// both sides are in this process. The detector can not see that by itself: two mappings are
// different memory to it. A mark is found by the inode of the memory's file. If
// two memories share a mark, the detector misses some races and reports no false ones.
type Order struct{ mark *mark }

type mark struct{ word uint64 }

var marks [4096]mark

// OrderOf is one of two orders that belong to a memory.
func OrderOf(fd int, second bool) Order {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return Order{&marks[0]}
	}
	i := 2 * (st.Ino % uint64(len(marks)/2))
	if second {
		i++
	}
	return Order{&marks[i]}
}

// Wrote is called before others are told of what was written.
func (o Order) Wrote() {
	if o.mark != nil {
		runtime.RaceReleaseMerge(unsafe.Pointer(o.mark))
	}
}

// Reads is called before what others have written is read.
func (o Order) Reads() {
	if o.mark != nil {
		runtime.RaceAcquire(unsafe.Pointer(o.mark))
	}
}
