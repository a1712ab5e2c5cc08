package commons

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/sealed"
)

// name is the memory's in /proc.
const name = "strand-commons"

// Make makes the memory, as rank 0, for so many ranks that show up to room bytes at a time. The ticket is for the others. The
// caller calls handed when these have joined.
func Make(ranks, room int) (m *Memory, t Ticket, handed func(), err error) {
	fd, mem, err := sealed.Make(name, Size(ranks, room), false)
	if err != nil {
		return nil, Ticket{}, nil, err
	}
	var mark [markSize]byte
	_, _ = rand.Read(mark[:]) // never fails
	copy(mem, mark[:])
	binary.LittleEndian.PutUint64(t[:], uint64(os.Getpid()))
	binary.LittleEndian.PutUint64(t[8:], uint64(fd))
	copy(t[16:], mark[:])
	return newMemory(mem, 0, ranks, room, sealed.OrderOf(fd, false)), t, func() { unix.Close(fd) }, nil
}

var errNotThis = errors.New("it is not the memory that was meant")

// Join maps the memory that rank 0 has made. Whether the ticket's process is on this host, and is the one that was meant, shows the
// mark in the memory.
func Join(t Ticket, own, ranks, room int) (*Memory, error) {
	path := fmt.Sprintf("/proc/%d/fd/%d", binary.LittleEndian.Uint64(t[:]), binary.LittleEndian.Uint64(t[8:]))
	// To open something else, a device or a pipe, may do something.
	if to, err := os.Readlink(path); err != nil {
		return nil, fmt.Errorf("%w: %w", errNotThis, err)
	} else if !strings.HasPrefix(to, "/memfd:"+name) {
		return nil, fmt.Errorf("%s: %w", path, errNotThis)
	}
	fd, err := unix.Open(path, unix.O_RDWR|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, os.NewSyscallError("open", err))
	}
	defer unix.Close(fd)
	size, err := sealed.Check(fd)
	if err != nil {
		return nil, err
	}
	if want := Size(ranks, room); size != want {
		return nil, fmt.Errorf("the memory has %d bytes, and not %d", size, want)
	}
	mem, err := sealed.Map(fd, size, false)
	if err != nil {
		return nil, err
	}
	if subtle.ConstantTimeCompare(mem[:markSize], t[16:]) == 0 {
		_ = unix.Munmap(mem)
		return nil, errNotThis
	}
	return newMemory(mem, own, ranks, room, sealed.OrderOf(fd, false)), nil
}

// Close unmaps the memory. Nothing of it may be used any more.
func (m *Memory) Close() {
	if m.mem != nil {
		_ = unix.Munmap(m.mem)
		m.mem = nil
	}
}
