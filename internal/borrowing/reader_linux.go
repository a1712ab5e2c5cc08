package borrowing

import (
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

const wordSize = 8

// A Mark shows whose memory it is in.
type Mark struct{ value *uint64 }

// NewMark makes this process's. It stays as long as the mark is used.
func NewMark() Mark {
	var b [wordSize]byte
	_, _ = rand.Read(b[:]) // never fails
	value := binary.NativeEndian.Uint64(b[:])
	return Mark{&value}
}

// Value is what others find.
func (m Mark) Value() uint64 { return *m.value }

// Address is where they find it.
func (m Mark) Address() uint64 { return uint64(uintptr(unsafe.Pointer(m.value))) }

// Address is where others find the bytes of b, which has some. It is on the heap, and the caller keeps it as long as others read it.
func Address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(&b[0]))) }

// A Reader reads the memory of another process. It is for one goroutine at a time, and is not copied once it has
// tried.
type Reader struct {
	pid     int
	address uint64 // of its mark
	mark    uint64 // what is there
	found   uint64
	local   [2]unix.Iovec
	remote  [2]unix.RemoteIovec
}

// ErrNotMeant is the error for memory that is another process's than the one that was meant.
var ErrNotMeant = errors.New("it is another process's")

// Of makes it one of the process with that number.
func Of(pid int) Reader { return Reader{pid: pid} }

// Process is the process's number.
func (r *Reader) Process() int { return r.pid }

// Try reads the mark that the process says it has left at an address, which shows whether the system lets this process read.
func (r *Reader) Try(address, mark uint64) error {
	r.address, r.mark = address, mark
	r.local[1].Base, r.remote[1].Base = (*byte)(unsafe.Pointer(&r.found)), uintptr(address)
	r.local[1].SetLen(wordSize)
	r.remote[1].Len = wordSize
	var first [wordSize]byte
	return r.Read(first[:], r.address, true)
}

// Read reads memory of the other process. The last of some readings that belong together reads the mark in the same call: before, nothing that
// was read counts.
func (r *Reader) Read(to []byte, from uint64, last bool) error {
	parts, want := 1, len(to)
	if last {
		parts, want = 2, want+wordSize
	}
	r.local[0].Base, r.remote[0].Base = &to[0], uintptr(from)
	r.local[0].SetLen(len(to))
	r.remote[0].Len = len(to)
	n, err := unix.ProcessVMReadv(r.pid, r.local[:parts], r.remote[:parts], 0)
	r.local[0].Base = nil
	switch {
	case err != nil:
		err = os.NewSyscallError("process_vm_readv", err)
	case n != want:
		err = os.NewSyscallError("process_vm_readv", unix.EFAULT)
	case last && r.found != r.mark:
		err = ErrNotMeant
	default:
		return nil
	}
	return fmt.Errorf("reading the memory of process %d: %w", r.pid, err)
}

// Gone reports whether an error of a Reader says that the process is there no more.
func Gone(err error) bool { return errors.Is(err, unix.ESRCH) }
