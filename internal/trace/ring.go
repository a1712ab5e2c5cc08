package trace

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/strandmp/strand/param"
)

// Variable has the number of the inherited descriptor of a rank's ring.
const Variable = param.ReservedEnv + "TRACE_FD"

// Bounds of a ring, in bytes.
const (
	MinSize     = 64 << 10
	DefaultSize = 4 << 20
	MaxSize     = 1 << 30
)

// A ring begins with a head: the mark, when its clock began (by the host's clock of which all its
// ranks read the same, and by the calendar), and how many events were recorded in all. Names
// follow, each ended by a 0, and then the events.
const (
	mark        = "strtrc01"
	atSize      = 8
	atHostClock = 16
	atCalendar  = 24
	atCount     = 32
	atNames     = 64
	atEvents    = 8 << 10
)

// Create makes an empty ring. It lasts as long as a process has it open.
func Create(size int64) (*os.File, error) {
	if size < MinSize || size > MaxSize {
		return nil, fmt.Errorf("a buffer of %d bytes: want %s to %s", size, param.FormatSize(MinSize), param.FormatSize(MaxSize))
	}
	f, err := create()
	if err != nil {
		return nil, err
	}
	head := binary.LittleEndian.AppendUint64([]byte(mark), uint64(size))
	if _, err = f.WriteAt(head, 0); err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// sizeIn is the size that the head of a ring says, which is no more than its file has: whoever touches memory behind
// that would be killed.
func sizeIn(head []byte, file int64) (int, error) {
	size := binary.LittleEndian.Uint64(head[atSize:])
	if string(head[:len(mark)]) != mark || size < MinSize || size > uint64(min(file, MaxSize)) {
		return 0, errNoRing
	}
	return int(size), nil
}

// capacity is how many events a ring of the size has.
func capacity(size int) uint64 { return uint64(size-atEvents) / eventSize }

// Contents reads the part of a ring that has something in it.
func Contents(f *os.File) ([]byte, error) {
	var head [atNames]byte
	if _, err := f.ReadAt(head[:], 0); err != nil {
		return nil, err
	}
	about, err := f.Stat()
	if err != nil {
		return nil, err
	}
	size, err := sizeIn(head[:], about.Size())
	if err != nil {
		return nil, err
	}
	used := atEvents + min(binary.LittleEndian.Uint64(head[atCount:]), capacity(size))*eventSize
	b := make([]byte, used)
	_, err = io.ReadFull(io.NewSectionReader(f, 0, int64(used)), b)
	return b, err
}

var errNoRing = errors.New("trace: this is no ring of a rank's events, or one of another version of Strand")
