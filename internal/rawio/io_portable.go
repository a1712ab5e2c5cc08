//go:build unix && !(linux && (386 || amd64 || arm || arm64 || riscv64))

package rawio

import (
	"errors"
	"syscall"

	"golang.org/x/sys/unix"
)

func recv(fd int, b []byte) (int, syscall.Errno) {
	for {
		n, err := unix.Read(fd, b)
		if err == nil {
			return n, 0
		}
		if errno := errnoOf(err); errno != syscall.EINTR {
			return 0, errno
		}
	}
}

func send(fd int, b []byte) (int, syscall.Errno) {
	for {
		// Go's runtime catches SIGPIPE, so that a broken connection shows as EPIPE only.
		n, err := unix.Write(fd, b)
		if err == nil {
			return n, 0
		}
		if errno := errnoOf(err); errno != syscall.EINTR {
			return 0, errno
		}
	}
}

func sendv(fd int, v *Vector) (int, syscall.Errno) {
	for {
		n, err := unix.SendmsgBuffers(fd, v.pieces[:v.n], nil, nil, unix.MSG_DONTWAIT)
		if err == nil {
			return n, 0
		}
		if errno := errnoOf(err); errno != syscall.EINTR {
			return 0, errno
		}
	}
}

func errnoOf(err error) syscall.Errno {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno
	}
	return syscall.EIO
}

// A Vector is a reusable list of pieces for one [Conn.Sendv]. It keeps the pieces
// alive until [Vector.Reset].
type Vector struct {
	n      int
	size   int
	pieces [MaxPieces][]byte
}

// Reset empties the vector.
func (v *Vector) Reset() {
	clear(v.pieces[:v.n])
	v.n, v.size = 0, 0
}

// Add appends a piece, which must not be empty, and reports whether there was
// room for it.
func (v *Vector) Add(b []byte) bool {
	if v.n == len(v.pieces) {
		return false
	}
	v.pieces[v.n] = b
	v.n++
	v.size += len(b)
	return true
}

// Piece returns the i-th piece.
func (v *Vector) Piece(i int) []byte { return v.pieces[i] }

func (v *Vector) length(i int) int { return len(v.pieces[i]) }

func (v *Vector) cut(i, n int) { v.pieces[i] = v.pieces[i][:n] }

func (v *Vector) drop(last int) {
	v.pieces[last] = nil
	v.n = last
}

func (v *Vector) each(n int, f func([]byte)) {
	for _, p := range v.pieces[:v.n] {
		if n <= 0 {
			return
		}
		k := min(n, len(p))
		f(p[:k])
		n -= k
	}
}
