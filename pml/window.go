package pml

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/pml/wire"
)

// sendWindow holds the frames to a peer that are not acknowledged, by number.
// Numbers start at 0 and wrap around. The zero value is ready.
type sendWindow struct {
	ring []*txFrame // slot of number n: n mod len
	base uint32     // the lowest number not acknowledged
	next uint32     // the next number to give out
	most int        // how long the span of those may be for anything new to follow
}

// empty reports whether everything is acknowledged.
func (w *sendWindow) empty() bool { return w.base == w.next }

// outstanding is the span of the numbers from the lowest not acknowledged on.
func (w *sendWindow) outstanding() int { return int(w.next - w.base) }

// add gives f the next number.
func (w *sendWindow) add(f *txFrame) uint32 {
	if w.outstanding()+1 >= len(w.ring) {
		w.grow()
	}
	n := w.next
	w.ring[int(n)&(len(w.ring)-1)] = f
	w.next++
	return n
}

func (w *sendWindow) grow() {
	bigger := make([]*txFrame, max(64, 2*len(w.ring)))
	for n := w.base; n != w.next; n++ {
		bigger[int(n)&(len(bigger)-1)] = w.ring[int(n)&(len(w.ring)-1)]
	}
	w.ring = bigger
}

// acknowledge takes a cumulative acknowledgement: all numbers below next have
// arrived. It calls acked for each frame this is news for. An older one, which a
// newer one has overtaken, is no news. One that names a frame that was not sent yet is
// damage: that frame still waits in a queue, and belongs to it.
func (w *sendWindow) acknowledge(next uint32, acked func(*txFrame)) error {
	if int32(next-w.base) < 0 {
		return nil
	}
	if next-w.base > w.next-w.base {
		return fmt.Errorf("acknowledgement up to frame %d, but only %d to %d are on their way", next, w.base, w.next)
	}
	for w.base != next {
		slot := &w.ring[int(w.base)&(len(w.ring)-1)]
		f := *slot
		if f != nil && !f.wasSent() {
			return errNotSent(w.base)
		}
		*slot = nil
		w.base++
		if f != nil {
			acked(f)
		}
	}
	if w.empty() && len(w.ring) > keptRing {
		w.ring = nil // it was made for a peak
	}
	return nil
}

// keptRing is the longest ring that is kept for reuse.
const keptRing = 8192

func errNotSent(n uint32) error {
	return fmt.Errorf("acknowledgement of frame %d, which was not sent yet", n)
}

// acknowledgeRange takes a selective acknowledgement.
func (w *sendWindow) acknowledgeRange(r wire.Range, acked func(*txFrame)) error {
	from := r.First - w.base
	if int32(from) < 0 {
		return nil // an old one, overtaken by a newer acknowledgement
	}
	if uint64(from)+uint64(r.Count) > uint64(w.next-w.base) {
		return fmt.Errorf("acknowledgement of frames %d to %d, but only %d to %d are on their way", r.First, r.First+r.Count, w.base, w.next)
	}
	for n := r.First; n != r.First+r.Count; n++ {
		slot := &w.ring[int(n)&(len(w.ring)-1)]
		f := *slot
		if f == nil {
			continue
		}
		if !f.wasSent() {
			return errNotSent(n)
		}
		*slot = nil
		acked(f)
	}
	return nil
}

// each calls f for every frame that is not acknowledged, in order; [txFrame.eachPart] for
// those that go in parts.
func (w *sendWindow) each(f func(*txFrame)) {
	for n := w.base; n != w.next; n++ {
		if fr := w.ring[int(n)&(len(w.ring)-1)]; fr != nil {
			f(fr)
		}
	}
}

// receiveWindow knows which frames have arrived from a peer. The zero value is
// ready.
type receiveWindow struct {
	next   uint32       // all lower numbers have arrived
	beyond []wire.Range // arrived beyond a gap: sorted, apart from each other
}

// maxBeyond bounds the gaps that a peer can make us remember.
const maxBeyond = 1 << 16

// has reports whether a frame has arrived.
func (w *receiveWindow) has(n uint32) bool {
	if int32(n-w.next) < 0 {
		return true
	}
	i, found := w.search(n)
	return found || (i > 0 && n-w.beyond[i-1].First < w.beyond[i-1].Count)
}

// search finds the first range that starts at n or later.
func (w *receiveWindow) search(n uint32) (int, bool) {
	return slices.BinarySearchFunc(w.beyond, n, func(r wire.Range, n uint32) int {
		return int(int32(r.First-w.next)) - int(int32(n-w.next))
	})
}

// add notes the arrival of a frame. One that has arrived already changes
// nothing: its copies may have been under way at the same time.
func (w *receiveWindow) add(n uint32) error {
	if w.has(n) {
		return nil
	}
	if n == w.next {
		w.next++
		if len(w.beyond) > 0 && w.beyond[0].First == w.next {
			w.next += w.beyond[0].Count
			w.beyond = slices.Delete(w.beyond, 0, 1)
		}
		return nil
	}
	i, _ := w.search(n)
	joinsLeft := i > 0 && w.beyond[i-1].First+w.beyond[i-1].Count == n
	joinsRight := i < len(w.beyond) && w.beyond[i].First == n+1
	switch {
	case joinsLeft && joinsRight:
		w.beyond[i-1].Count += 1 + w.beyond[i].Count
		w.beyond = slices.Delete(w.beyond, i, i+1)
	case joinsLeft:
		w.beyond[i-1].Count++
	case joinsRight:
		w.beyond[i].First, w.beyond[i].Count = n, w.beyond[i].Count+1
	case len(w.beyond) >= maxBeyond:
		return fmt.Errorf("frame %d leaves more than %d gaps", n, maxBeyond)
	default:
		w.beyond = slices.Insert(w.beyond, i, wire.Range{First: n, Count: 1})
	}
	return nil
}
