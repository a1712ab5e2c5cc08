//go:build linux && (386 || amd64 || arm || arm64 || riscv64)

package rawio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The calls below can not block, so the scheduler need not know of them. On 386
// they are the direct system calls, which Linux has since 4.3, not socketcall.

func recv(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT, 0, 0)
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

func send(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd),
			uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL, 0, 0)
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

func sendv(fd int, v *Vector) (int, syscall.Errno) {
	v.msg.Iov = &v.iov[0]
	v.msg.SetIovlen(v.n)
	for {
		n, _, errno := syscall.RawSyscall(unix.SYS_SENDMSG, uintptr(fd),
			uintptr(unsafe.Pointer(&v.msg)), unix.MSG_DONTWAIT|unix.MSG_NOSIGNAL)
		if errno == 0 {
			return int(n), 0
		}
		if errno != syscall.EINTR {
			return 0, errno
		}
	}
}

// A Vector is a reusable list of pieces for one [Conn.Sendv]. It must live on
// the heap, for example as a field of something that does. It keeps the pieces
// alive until [Vector.Reset].
type Vector struct {
	n    int
	size int
	iov  [MaxPieces]unix.Iovec
	msg  unix.Msghdr
}

// Reset empties the vector.
func (v *Vector) Reset() {
	for i := range v.iov[:v.n] {
		v.iov[i].Base = nil
	}
	v.n, v.size = 0, 0
}

// Add appends a piece, which must not be empty, and reports whether there was
// room for it.
func (v *Vector) Add(b []byte) bool {
	if v.n == len(v.iov) {
		return false
	}
	v.iov[v.n].Base = unsafe.SliceData(b)
	v.iov[v.n].SetLen(len(b))
	v.n++
	v.size += len(b)
	return true
}

// Piece returns the i-th piece.
func (v *Vector) Piece(i int) []byte { return unsafe.Slice(v.iov[i].Base, int(v.iov[i].Len)) }

func (v *Vector) length(i int) int { return int(v.iov[i].Len) }

func (v *Vector) cut(i, n int) { v.iov[i].SetLen(n) }

func (v *Vector) drop(last int) {
	v.iov[last].Base = nil
	v.n = last
}

// each calls f for the pieces that the first n bytes lie in.
func (v *Vector) each(n int, f func([]byte)) {
	for i := 0; i < v.n && n > 0; i++ {
		k := min(n, int(v.iov[i].Len))
		f(unsafe.Slice(v.iov[i].Base, k))
		n -= k
	}
}
