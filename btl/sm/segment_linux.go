package sm

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// layout is the version of the memory's format. Ranks with different layouts share no memory.
const layout = 2

// A segment is a page of words, then the ring that the maker writes, then the other ring. Words
// that different sides write lie so far apart that no processor fetches both at once.
const (
	page       = 4 << 10
	headWord   = 0   // how far the side has read
	sleepWord  = 256 // whether the side sleeps
	wantsWord  = 512 // which frames the side wants to be lent
	markWord   = 768 // the side's mark, and then its address in the side's process; 0: it does not lend
	sideOfPage = 1024
)

const seals = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_SEAL

// makeSegment makes memory for two rings, all of it there, and a descriptor to hand it over.
func makeSegment(ring int) (fd int, mem []byte, err error) {
	size := page + 2*ring
	fd, err = unix.MemfdCreate("strand-sm", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return -1, nil, os.NewSyscallError("memfd_create", err)
	}
	err = os.NewSyscallError("ftruncate", unix.Ftruncate(fd, int64(size)))
	if err == nil {
		err = os.NewSyscallError("fallocate", unix.Fallocate(fd, 0, 0, int64(size)))
	}
	if err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		err = os.NewSyscallError("fcntl F_ADD_SEALS", err)
	}
	if err == nil {
		mem, err = mapped(fd, size)
	}
	if err != nil {
		unix.Close(fd)
		return -1, nil, err
	}
	return fd, mem, nil
}

var errUnsealed = errors.New("the peer's memory is not sealed: it could shrink under us")

// takeSegment maps memory that a peer has made, if the peer can not take it away again.
func takeSegment(fd int) ([]byte, error) {
	has, err := unix.FcntlInt(uintptr(fd), unix.F_GET_SEALS, 0)
	if err != nil || has&seals != seals {
		return nil, errUnsealed
	}
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return nil, os.NewSyscallError("fstat", err)
	}
	ring := (st.Size - page) / 2
	if ring < minRing || ring > maxRing || ring&(ring-1) != 0 || st.Size != page+2*ring {
		return nil, fmt.Errorf("the peer's memory has %d bytes, which is not a page and two rings", st.Size)
	}
	if st.Blocks*512 < st.Size {
		return nil, fmt.Errorf("of the peer's %d bytes of memory only %d are there", st.Size, st.Blocks*512)
	}
	return mapped(fd, int(st.Size))
}

func mapped(fd, size int) ([]byte, error) {
	mem, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED|unix.MAP_POPULATE)
	return mem, os.NewSyscallError("mmap", err)
}

// ends are the two ends of a segment as one side has them, and the words about sleeping.
func ends(mem []byte, maker bool) (in reader, out writer, us, them side) {
	ours, theirs := mem[:sideOfPage], mem[sideOfPage:2*sideOfPage]
	ring := (len(mem) - page) / 2
	first, second := mem[page:page+ring], mem[page+ring:]
	if !maker {
		ours, theirs = theirs, ours
		first, second = second, first
	}
	us, them = sideOf(ours), sideOf(theirs)
	in = reader{ring: second, head: at(ours, headWord)}
	out = writer{ring: first, head: at(theirs, headWord)}
	return in, out, us, them
}

func sideOf(words []byte) side {
	return side{word: at(words, sleepWord), wants: at(words, wantsWord), mark: at(words, markWord), markAt: at(words, markWord+wordSize)}
}
