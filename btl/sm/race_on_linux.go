//go:build race

package sm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// order is where the race detector learns that what happened before a record was written
// happens before it is read, where both ends are in this process. It sees the two mappings as
// different memory. Each direction has a mark of its own, found by the number of the memory's
// file; that two share one costs precision only.
type order struct{ out, in *mark }

type mark struct{ word uint64 }

var marks [4096]mark

func orderOf(fd int, maker bool) order {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) != nil {
		return order{&marks[0], &marks[0]}
	}
	i := 2 * (st.Ino % uint64(len(marks)/2))
	if maker {
		return order{&marks[i], &marks[i+1]}
	}
	return order{&marks[i+1], &marks[i]}
}

func (o *order) writing() { runtime.RaceReleaseMerge(unsafe.Pointer(o.out)) }

func (o *order) reading() { runtime.RaceAcquire(unsafe.Pointer(o.in)) }
