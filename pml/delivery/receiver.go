package delivery

import (
	"fmt"
	"slices"
)

// A Receiver knows which frames have arrived from a peer, and which of them the peer has
// been told of. The zero value is ready but for its bounds.
type Receiver struct {
	// MaxUnfinished bounds the frames that come in parts and are not whole, MaxGaps the
	// gaps within them.
	MaxUnfinished, MaxGaps int

	next   uint32  // all lower numbers have arrived
	beyond []Range // arrived beyond a gap: sorted, apart from each other
	room   []Range // none, and the memory that those are in

	untold  int  // frames since the last acknowledgement
	due     bool // an acknowledgement is to leave with the next frame
	answers answers

	unfinished []*Assembly
	gaps       int
}

// maxBeyond bounds the gaps between frames that a peer can make us remember. At worst every second
// frame is missing: of a window, and of the answers to all requests that may wait
// (docs/WIRE.md, Bounds).
const maxBeyond = 1 << 20

// Next is the number below which everything has arrived: the cumulative acknowledgement.
func (r *Receiver) Next() uint32 { return r.next }

// Beyond are the numbers that have arrived beyond a gap: the selective acknowledgements,
// the lowest first. They change with the next arrival.
func (r *Receiver) Beyond() []Range { return r.beyond }

// Expects reports whether a frame is the very next one, and nothing has overtaken it.
func (r *Receiver) Expects(n uint32) bool { return n == r.next && len(r.beyond) == 0 }

// Has reports whether a frame has arrived.
func (r *Receiver) Has(n uint32) bool {
	if int32(n-r.next) < 0 {
		return true
	}
	i, found := r.search(n)
	return found || (i > 0 && n-r.beyond[i-1].First < r.beyond[i-1].Count)
}

// search finds the first range that starts at n or later.
func (r *Receiver) search(n uint32) (int, bool) {
	return slices.BinarySearchFunc(r.beyond, n, func(b Range, n uint32) int {
		return int(int32(b.First-r.next)) - int(int32(n-r.next))
	})
}

// add notes the arrival of a frame. If it has arrived already nothing changes: several copies
// of it may have been under way at the same time.
func (r *Receiver) add(n uint32) error {
	if r.Has(n) {
		return nil
	}
	if n == r.next {
		r.next++
		if len(r.beyond) > 0 && r.beyond[0].First == r.next {
			r.next += r.beyond[0].Count
			r.dropFirst()
		}
		return nil
	}
	i, _ := r.search(n)
	joinsLeft := i > 0 && r.beyond[i-1].First+r.beyond[i-1].Count == n
	joinsRight := i < len(r.beyond) && r.beyond[i].First == n+1
	switch {
	case joinsLeft && joinsRight:
		r.beyond[i-1].Count += 1 + r.beyond[i].Count
		r.beyond = slices.Delete(r.beyond, i, i+1)
	case joinsLeft:
		r.beyond[i-1].Count++
	case joinsRight:
		r.beyond[i].First, r.beyond[i].Count = n, r.beyond[i].Count+1
	case len(r.beyond) >= maxBeyond:
		return fmt.Errorf("frame %d leaves more than %d gaps", n, maxBeyond)
	default:
		r.insert(i, Range{n, 1})
	}
	return nil
}

// keptRanges is for how many ranges memory is kept for reuse.
const keptRanges = 1024

// dropFirst takes out the first range. The others stay where they are: gaps are mostly filled in order, and may be very many.
func (r *Receiver) dropFirst() {
	if r.beyond = r.beyond[1:]; len(r.beyond) > 0 {
		return
	}
	if cap(r.room) > keptRanges {
		r.room = nil // it was made for a peak
	}
	r.beyond = r.room
}

// insert puts a range before the one at i.
func (r *Receiver) insert(i int, b Range) {
	if n := len(r.beyond); n == cap(r.beyond) && n <= cap(r.room)/2 {
		r.compact()
	}
	full := len(r.beyond) == cap(r.beyond)
	if r.beyond = slices.Insert(r.beyond, i, b); full {
		r.room = r.beyond[:0]
	}
}

// compact moves the ranges to the front of their memory, or into less of it: those before them are gone.
func (r *Receiver) compact() {
	if n := len(r.beyond); cap(r.room) > max(keptRanges, 8*n) {
		r.room = make([]Range, 0, 2*n)
	}
	r.beyond = append(r.room, r.beyond...)
}
