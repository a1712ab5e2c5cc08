package trace

import (
	"encoding/binary"
	"math"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A Recorder writes a rank's events into its ring. Its methods are safe for any number of goroutines.
type Recorder struct {
	begun time.Time
	ops   atomic.Uint64

	mu     sync.Mutex
	ring   []byte
	events []byte
	room   uint64 // events
	count  uint64
	names  map[string]uint16
	end    int // of the names
}

// taken says that this process has mapped its ring. The number in the variable may be another file's
// by now.
var taken atomic.Bool

// Inherited returns the recorder of a rank whose launcher has given it a ring, or nil. Only the
// first call does.
func Inherited() *Recorder {
	fd, err := strconv.Atoi(os.Getenv(Variable))
	if err != nil || fd < 3 || !taken.CompareAndSwap(false, true) {
		return nil
	}
	r, err := open(fd)
	if err != nil {
		return nil // what lies between launcher and rank has closed it, or they are of different versions
	}
	_ = unix.Close(fd)
	return r
}

// open maps the ring of a descriptor.
func open(fd int) (*Recorder, error) {
	var head [atNames]byte
	if n, err := unix.Pread(fd, head[:], 0); err != nil || n < len(head) {
		return nil, errNoRing
	}
	var about unix.Stat_t
	if err := unix.Fstat(fd, &about); err != nil {
		return nil, err
	}
	size, err := sizeIn(head[:], about.Size)
	if err != nil {
		return nil, err
	}
	ring, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	r := &Recorder{ring: ring, events: ring[atEvents:], room: capacity(len(ring)), names: make(map[string]uint16), end: atNames}
	var host int64
	r.begun, host = hostClock()
	binary.LittleEndian.PutUint64(ring[atHostClock:], uint64(host))
	binary.LittleEndian.PutUint64(ring[atCalendar:], uint64(r.begun.UnixNano()))
	r.Name("") // number 0
	return r, nil
}

// readings is how often two clocks are read to be read together.
const readings = 8

// together reads two clocks at one moment. Who loses the processor between them is wrong by as long as that takes, and so are all
// times of the rank beside those of its host's other ranks. So they are read a few times, and the quickest time counts.
func together(now func() time.Time, other func() int64) (at time.Time, others int64) {
	best := time.Duration(math.MaxInt64)
	for range readings {
		before := now()
		o := other()
		if took := now().Sub(before); took < best {
			best, at, others = took, before.Add(took/2), o
		}
	}
	return at, others
}

// Record adds an event, whose time is now. If the ring is full it takes the place of the oldest.
func (r *Recorder) Record(e Event) {
	r.mu.Lock()
	e.Time = int64(time.Since(r.begun))
	at := r.count % r.room * eventSize
	e.put(r.events[at : at+eventSize])
	r.count++
	// After the event: whoever reads the ring of a process that has been killed meanwhile does not take it
	// for one.
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&r.ring[atCount])), littleEndian(r.count))
	r.mu.Unlock()
}

// littleEndian is a number whose bytes in memory are little-endian, as all of a ring: another host may read it.
func littleEndian(v uint64) uint64 {
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], v)
	return binary.NativeEndian.Uint64(b[:])
}

// Name returns the number of a name. All for which there is no more room have number 0.
func (r *Recorder) Name(name string) uint16 {
	r.mu.Lock()
	defer r.mu.Unlock()
	n, known := r.names[name]
	if !known {
		if r.end+len(name)+1 > atEvents {
			return 0
		}
		n = uint16(len(r.names))
		r.names[name] = n
		copy(r.ring[r.end:], name)
		r.end += len(name) + 1
	}
	return n
}

// Begin records the begin of a wait, or a call, and returns the number of it for its end. Operations of
// the message layer have others.
func (r *Recorder) Begin(e Event) (op uint64) {
	e.Op = ownOp | r.ops.Add(1)
	r.Record(e)
	return e.Op
}

const ownOp = 1 << 63
