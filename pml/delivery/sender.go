package delivery

import (
	"cmp"
	"fmt"
	"slices"
)

// A Range is Count consecutive frame numbers.
type Range struct{ First, Count uint32 }

// A Sender has the frames to a peer that are not acknowledged, by number. Numbers start at
// 0 and wrap around. The zero value is ready but for Most.
type Sender struct {
	// Most is how far the numbers may span, from the first that is not acknowledged, for
	// anything new to follow.
	Most int

	ring    []*Frame // slot of number n: n mod len
	base    uint32   // the lowest number that is not acknowledged
	next    uint32   // the next number to give out
	beyond  []Range  // acknowledged though base is not: sorted, apart from each other
	replays Queue    // frames whose line has broken, to go another way
	urgent  Queue    // those of them that go before the others
}

// Empty reports whether everything is acknowledged.
func (s *Sender) Empty() bool { return s.base == s.next }

// Base is the lowest number that is not acknowledged.
func (s *Sender) Base() uint32 { return s.base }

// Next is the next number to be given out.
func (s *Sender) Next() uint32 { return s.next }

// Outstanding is the span of the numbers from the lowest that is not acknowledged on.
func (s *Sender) Outstanding() int { return int(s.next - s.base) }

// Full reports whether the window takes nothing new: the peer would have to remember too
// much.
func (s *Sender) Full() bool { return s.Outstanding() >= s.Most }

// Spans reports whether next may be that of a cumulative acknowledgement.
func (s *Sender) Spans(next uint32) bool { return next-s.base <= s.next-s.base }

// Add gives f the next number.
func (s *Sender) Add(f *Frame) uint32 {
	if s.Outstanding()+1 >= len(s.ring) {
		s.grow()
	}
	n := s.next
	f.numbered = true
	s.ring[int(n)&(len(s.ring)-1)] = f
	s.next++
	return n
}

func (s *Sender) grow() {
	bigger := make([]*Frame, max(64, 2*len(s.ring)))
	for n := s.base; n != s.next; n++ {
		bigger[int(n)&(len(bigger)-1)] = s.ring[int(n)&(len(s.ring)-1)]
	}
	s.ring = bigger
}

// keptRing is the longest ring that is kept for reuse.
const keptRing = 8192

// Acknowledge takes a cumulative acknowledgement: all numbers below next have arrived. It
// calls acked for each frame that this is news for. An older one, which a newer one has
// overtaken, is no news. To name a frame that was not sent yet is damage: that frame
// still waits in a queue, and belongs to the queue.
func (s *Sender) Acknowledge(next uint32, acked func(*Frame)) error {
	if int32(next-s.base) < 0 {
		return nil
	}
	if next-s.base > s.next-s.base {
		return fmt.Errorf("acknowledgement up to frame %d, but only %d to %d are on their way", next, s.base, s.next)
	}
	if len(s.beyond) > 0 {
		s.dropBelow(next)
	}
	for s.base != next {
		slot := &s.ring[int(s.base)&(len(s.ring)-1)]
		f := *slot
		if f != nil && !f.wasSent() {
			return errNotSent(s.base)
		}
		*slot = nil
		s.base++
		if f != nil {
			f.arrived()
			acked(f)
		}
	}
	if s.Empty() && len(s.ring) > keptRing {
		s.ring = nil // it was made for a peak
	}
	return nil
}

// dropBelow forgets of the ranges what is below a number, which base is about to reach.
func (s *Sender) dropBelow(next uint32) {
	i := 0
	for i < len(s.beyond) && s.beyond[i].First+s.beyond[i].Count-s.base <= next-s.base {
		i++
	}
	if s.beyond = slices.Delete(s.beyond, 0, i); len(s.beyond) == 0 {
		if cap(s.beyond) > keptRanges {
			s.beyond = nil // it was made for a peak
		}
		return
	}
	if b := &s.beyond[0]; b.First-s.base < next-s.base {
		b.First, b.Count = next, b.First+b.Count-next
	}
}

// AcknowledgeRange takes a selective acknowledgement. A peer says again and again what has arrived beyond a gap, while that
// grows. So only those frames are looked at of which it was not known.
func (s *Sender) AcknowledgeRange(r Range, acked func(*Frame)) error {
	from := r.First - s.base
	if int32(from) < 0 {
		return nil // an old one, overtaken by a newer acknowledgement
	}
	if uint64(from)+uint64(r.Count) > uint64(s.next-s.base) {
		return fmt.Errorf("acknowledgement of frames %d to %d, but only %d to %d are on their way", r.First, r.First+r.Count, s.base, s.next)
	}
	if r.Count == 0 {
		return nil
	}
	// The known ranges that touch this one are those between i and j, and become one with it.
	at, end, all := from, from+r.Count, r
	i, _ := slices.BinarySearchFunc(s.beyond, from, func(b Range, from uint32) int { return cmp.Compare(b.First+b.Count-s.base, from) })
	j := i
	for ; j < len(s.beyond) && s.beyond[j].First-s.base <= end; j++ {
		known := s.beyond[j]
		if err := s.acknowledgeBetween(at, known.First-s.base, acked); err != nil {
			return err
		}
		at = known.First + known.Count - s.base
		all = all.with(known, s.base)
	}
	if err := s.acknowledgeBetween(at, end, acked); err != nil {
		return err
	}
	s.beyond = slices.Replace(s.beyond, i, j, all)
	return nil
}

// with is the range that two become which touch each other.
func (r Range) with(other Range, base uint32) Range {
	first := min(r.First-base, other.First-base)
	end := max(r.First+r.Count-base, other.First+other.Count-base)
	return Range{base + first, end - first}
}

// acknowledgeBetween takes a selective acknowledgement of the frames between two distances from base; there may be none.
func (s *Sender) acknowledgeBetween(from, to uint32, acked func(*Frame)) error {
	for ; from < to; from++ {
		n := s.base + from
		slot := &s.ring[int(n)&(len(s.ring)-1)]
		f := *slot
		if f == nil {
			continue // an acknowledgement that was damage has come so far
		}
		if !f.wasSent() {
			return errNotSent(n)
		}
		*slot = nil
		f.arrived()
		acked(f)
	}
	return nil
}

func errNotSent(n uint32) error {
	return fmt.Errorf("acknowledgement of frame %d, which was not sent yet", n)
}

// arrived notes that the peer has the frame.
func (f *Frame) arrived() {
	f.acked = true
	if f.parts == nil {
		f.count()
	}
	for part := f.parts; part != nil; part = part.sibling {
		part.count()
	}
}

// count notes on the line that it has delivered the frame.
func (f *Frame) count() {
	if l := f.Line; l != nil {
		l.acked++
		l.delivered += int64(f.Size)
	}
}

// Each calls do for every frame that is not acknowledged, in the order of their numbers. For a
// frame that was cut it calls do for each part.
func (s *Sender) Each(do func(*Frame)) {
	for n := s.base; n != s.next; n++ {
		if f := s.ring[int(n)&(len(s.ring)-1)]; f != nil {
			f.EachPart(do)
		}
	}
}

// Abandon gives up everything: nothing will be acknowledged any more. It calls done for each
// frame and part that was not acknowledged or was to go again; delivered says whether the peer
// has it all the same. From now on the fate of each depends on its line alone.
func (s *Sender) Abandon(done func(f *Frame, delivered bool)) {
	for f := s.NextReplay(); f != nil; f = s.NextReplay() {
		s.Replaying(f)
		if f.Delivered() {
			done(f, true)
		}
	}
	for n := s.base; n != s.next; n++ {
		if f := s.ring[int(n)&(len(s.ring)-1)]; f != nil {
			f.acked = true
			f.EachPart(func(f *Frame) { done(f, false) })
		}
	}
	s.ring, s.beyond, s.base = nil, nil, s.next
}
