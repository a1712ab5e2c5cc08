package delivery

import (
	"fmt"
	"slices"
)

// A frame may come more than once before it is whole: over another line while the first one
// still brings it, anew after it has broken off, or in parts if the line that is left takes no
// longer frames. All copies have the same bytes and go to the same place. The copy that brings
// the last missing byte ends the frame.

// An Assembly is a frame that is not whole, and of which some bytes have come or are coming.
// Whoever knows where its payload goes embeds the Assembly or keeps it, and has Owner name the
// whole. [Receiver.Keep] notes it, and [Receiver.Forget] ends it.
type Assembly struct {
	Owner  any
	number uint32
	bytes  int
	have   spans
	kept   bool // among the unfinished
}

// MayBegin returns an error if the peer has so many frames begun in part that it must not begin
// another one.
func (r *Receiver) MayBegin(n uint32) error {
	if len(r.unfinished) >= r.MaxUnfinished {
		return fmt.Errorf("frame %d begins in part, and so have %d others", n, r.MaxUnfinished)
	}
	return nil
}

// Keep notes a frame of so many bytes that is to be put together.
func (r *Receiver) Keep(a *Assembly, number uint32, bytes int) {
	a.number, a.bytes, a.kept = number, bytes, true
	r.unfinished = append(r.unfinished, a)
}

// Unfinished finds the frame of a number that is being put together, or nil.
func (r *Receiver) Unfinished(number uint32) *Assembly {
	for _, a := range r.unfinished {
		if a.number == number {
			return a
		}
	}
	return nil
}

// AllUnfinished are the frames that are being put together, in the order in which they were
// kept. The slice is the Receiver's.
func (r *Receiver) AllUnfinished() []*Assembly { return r.unfinished }

// Cover notes that the bytes of a frame between from and to have come, and reports whether
// it is whole now.
func (r *Receiver) Cover(a *Assembly, from, to int) (whole bool, err error) {
	gaps := len(a.have)
	err = a.have.add(from, to)
	r.gaps += len(a.have) - gaps
	if r.gaps > r.MaxGaps {
		err = fmt.Errorf("parts that leave more than %d gaps in frames", r.MaxGaps)
	}
	return err == nil && a.have.is(a.bytes), err
}

// Forget notes that a frame is whole, or not wanted any more.
func (r *Receiver) Forget(a *Assembly) {
	if !a.kept {
		return
	}
	r.gaps -= len(a.have)
	a.have, a.kept = nil, false
	r.unfinished = slices.DeleteFunc(r.unfinished, func(other *Assembly) bool { return other == a })
}

// ForgetAll forgets all frames that are being put together, and returns them.
func (r *Receiver) ForgetAll() []*Assembly {
	all := r.unfinished
	for _, a := range all {
		a.have, a.kept = nil, false
	}
	r.unfinished, r.gaps = nil, 0
	return all
}

// Gaps is how many stretches of bytes there are in frames that are not whole.
func (r *Receiver) Gaps() int { return r.gaps }
