//go:build race && unix

package rawio

import (
	"hash/maphash"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

const raceEnabled = true

// order tells the race detector that a send happens before the receive at the
// other end, when both ends are in this process. Each direction of a connection
// has a mark, found from the two addresses. If two connections share a mark, the
// detector misses some races and reports no false ones.
type order struct {
	out, in *mark
}

type mark struct{ word uint64 }

var (
	marks [4096]mark
	seed  = maphash.MakeSeed()
)

func newOrder(fd int) order {
	local, err := unix.Getsockname(fd)
	if err != nil {
		return order{&marks[0], &marks[0]}
	}
	remote, err := unix.Getpeername(fd)
	if err != nil {
		return order{&marks[0], &marks[0]}
	}
	return order{out: markOf(local, remote), in: markOf(remote, local)}
}

func markOf(from, to unix.Sockaddr) *mark {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, a := range []unix.Sockaddr{from, to} {
		ap := addrPortOf(a)
		b, _ := ap.MarshalBinary()
		h.Write(b)
	}
	return &marks[h.Sum64()%uint64(len(marks))]
}

// sending is called before the system call: the receiver may have the bytes before
// that returns.
func (o *order) sending() { runtime.RaceReleaseMerge(unsafe.Pointer(o.out)) }

func (o *order) sent(b []byte) {
	if len(b) > 0 {
		runtime.RaceReadRange(unsafe.Pointer(&b[0]), len(b))
	}
}

func (o *order) received(b []byte) {
	runtime.RaceAcquire(unsafe.Pointer(o.in))
	if len(b) > 0 {
		runtime.RaceWriteRange(unsafe.Pointer(&b[0]), len(b))
	}
}
