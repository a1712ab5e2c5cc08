package btl

// MaxHeader is the largest header the PML puts in a frame, in bytes. A
// transport treats the header as opaque and carries it unchanged.
const MaxHeader = 64

// A Frame is what an endpoint carries: a short header for the peer's PML and a
// payload given as a vector. Frames are the unit of delivery: a transport may
// cut them on the wire but hands them over whole.
type Frame struct {
	// Header has 1 to MaxHeader bytes.
	Header []byte
	// Payload is the first, and mostly the only, piece of the payload.
	Payload []byte
	// More holds the other pieces of a payload that is not contiguous.
	More [][]byte
	// Size is the number of payload bytes in all pieces together.
	Size int

	// Next and Progress are the transport's own while it holds the frame: a
	// link for its queue, and how many bytes it has passed on.
	Next     *Frame
	Progress int

	// Owner belongs to whoever made the frame; a transport does not touch it.
	Owner any
}

// Pieces calls yield for each non-empty piece of the payload from byte offset
// on, in order, until yield returns false.
func (f *Frame) Pieces(offset int, yield func(piece []byte) bool) {
	if offset < len(f.Payload) {
		if !yield(f.Payload[offset:]) {
			return
		}
		offset = 0
	} else {
		offset -= len(f.Payload)
	}
	for _, p := range f.More {
		if offset >= len(p) {
			offset -= len(p)
			continue
		}
		if !yield(p[offset:]) {
			return
		}
		offset = 0
	}
}

// CopyPayload copies the payload into dst, which has at least Size bytes, and
// returns the number of bytes copied.
func (f *Frame) CopyPayload(dst []byte) int {
	n := copy(dst, f.Payload)
	for _, p := range f.More {
		n += copy(dst[n:], p)
	}
	return n
}

// Result says what an endpoint did with a frame.
type Result uint8

const (
	// Busy: the frame was not taken. [Receiver.Writable] follows once the
	// endpoint can take one again, be it after connecting or after sending.
	Busy Result = iota
	// Taken: the transport owns the frame until it calls [Receiver.Released].
	Taken
	// Done: the transport took the frame and has released it already.
	Done
	// Broken: the frame was not taken, and never will be by this endpoint.
	// [Receiver.Down] follows unless it was called already.
	Broken
)

func (r Result) String() string {
	switch r {
	case Busy:
		return "busy"
	case Taken:
		return "taken"
	case Done:
		return "done"
	case Broken:
		return "broken"
	}
	return "invalid result"
}
