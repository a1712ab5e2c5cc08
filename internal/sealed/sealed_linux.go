package sealed

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Seals are those that memory must have.
const Seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// ErrUnsealed is the error of [Check] for memory that could shrink.
var ErrUnsealed = errors.New("the peer's memory is not sealed: it could shrink under us")

// Make makes memory of that many bytes, and a descriptor to hand it over, which the caller closes. The name is for people, in
// /proc. Now says when the process's own tables name its pages, as in [Map].
func Make(name string, size int, now bool) (fd int, mem []byte, err error) {
	if fd, err = Create(name); err != nil {
		return -1, nil, err
	}
	err = os.NewSyscallError("ftruncate", unix.Ftruncate(fd, int64(size)))
	if err == nil {
		err = os.NewSyscallError("fallocate", allocate(size, func(from, n int64) error { return unix.Fallocate(fd, 0, from, n) }))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, Seals)
		err = os.NewSyscallError("fcntl F_ADD_SEALS", err)
	}
	if err == nil {
		mem, err = Map(fd, size, now)
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, err
	}
	return fd, mem, nil
}

const (
	// allocatedAtOnce is how many bytes one call allocates.
	allocatedAtOnce = 1 << 20
	// mostInterrupted is how many calls in a row may be interrupted.
	mostInterrupted = 1000
)

// allocate has all pages be there. On older systems any signal interrupts the call, which then has allocated nothing. The runtime sends some
// to threads that have been in a call for long, and profilers by time. Between two of those there is time for a part.
func allocate(size int, call func(from, n int64) error) (err error) {
	interrupted := 0
	for from := 0; from < size && interrupted < mostInterrupted; {
		n := min(size-from, allocatedAtOnce)
		switch err = call(int64(from), int64(n)); {
		case err == nil:
			from, interrupted = from+n, 0
		case errors.Is(err, unix.EINTR):
			interrupted++
		default:
			return err
		}
	}
	return err
}

// Create makes a file in memory that can be sealed and that nobody can execute. Systems before Linux 6.3 know only files that one
// could, and some of Linux 6.3 to 6.5 refuse these (vm.memfd_noexec).
func Create(name string) (fd int, err error) {
	const flags = unix.MFD_CLOEXEC | unix.MFD_ALLOW_SEALING
	if fd, err = unix.MemfdCreate(name, flags|unix.MFD_NOEXEC_SEAL); errors.Is(err, unix.EINVAL) {
		fd, err = unix.MemfdCreate(name, flags)
	}
	return fd, os.NewSyscallError("memfd_create", err)
}

// Check returns the size of memory that another process has made. It is an error if that process can take the memory away again.
func Check(fd int) (size int, err error) {
	has, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || has&Seals != Seals {
		return 0, ErrUnsealed
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return 0, os.NewSyscallError("fstat", err)
	}
	if st.Blocks*512 < st.Size {
		return 0, fmt.Errorf("of the peer's %d bytes of memory only %d are there", st.Size, st.Blocks*512)
	}
	return int(st.Size), nil
}

// Map maps the memory of a descriptor. The caller unmaps it. Its pages are there in any case. The process's own tables name
// them now, or each when it is first used, which takes a microsecond then.
func Map(fd, size int, now bool) ([]byte, error) {
	flags := unix.MAP_SHARED
	if now {
		flags |= unix.MAP_POPULATE
	}
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, flags)
	return mem, os.NewSyscallError("mmap", err)
}
