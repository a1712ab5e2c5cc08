//go:build race

package sm

import (
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// order tells the race detector that the writing of a record happens before its reading, where
// both ends are in this process. The detector can not see that by itself: the two mappings are
// different memory to it. Each direction has a mark, found by the inode of the memory's file. If
// two connections share a mark, the detector misses some races and reports no false ones.
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
