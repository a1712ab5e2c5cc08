package delivery

// A frame is made for the line that is to carry it. If that breaks, or another one goes
// first, it may come to one that takes less: then its payload goes in parts, each with
// the frame's own header and number, and where in the payload it belongs. The number has
// arrived when all of the payload has, in whatever parts. So the sender need not know what
// has arrived of an earlier attempt, and no frame is shorter than its own line needs. What
// was cut stays cut, and a part may be cut again.

// Cut queues the payload of a frame, or of a part of one, to go again in parts of at most limit
// bytes. No queue and no transport holds f. For each part Cut calls part, which returns a new
// frame whose payload is n bytes of f's from offset on. If f was a part itself, Cut reports
// true: the new parts belong to the whole frame then, and f is not needed any more.
func (s *Sender) Cut(f *Frame, limit int, part func(whole *Frame, offset, n int) *Frame) (replaced bool) {
	whole := f.Whole()
	for offset := 0; offset < f.Size; offset += limit {
		p := part(whole, offset, min(limit, f.Size-offset))
		p.whole, p.at, p.numbered, p.sent, p.Urgent = whole, f.at+offset, true, f.sent, f.Urgent
		p.sibling, whole.parts = whole.parts, p
		s.replay(p)
	}
	f.Unlink()
	return f != whole
}

// Whole is the frame itself, or the one that it is a part of.
func (f *Frame) Whole() *Frame {
	if f.whole != nil {
		return f.whole
	}
	return f
}

// At is where in the whole frame's payload a part belongs.
func (f *Frame) At() int { return f.at }

// Unlink takes a part from its frame and returns the frame, whose fate may depend on that. It
// returns nil for a frame that is no part.
func (f *Frame) Unlink() *Frame {
	whole := f.whole
	if whole == nil {
		return nil
	}
	at := &whole.parts
	for *at != f {
		at = &(*at).sibling
	}
	*at, f.whole, f.sibling = f.sibling, nil, nil
	return whole
}

// InParts reports whether the frame was cut, and parts of it are not done.
func (f *Frame) InParts() bool { return f.parts != nil }

// EachPart calls do for the frame, or for each of its parts if it was cut. The function do may
// unlink the part.
func (f *Frame) EachPart(do func(*Frame)) {
	if f.parts == nil {
		do(f)
		return
	}
	for part := f.parts; part != nil; {
		next := part.sibling
		do(part)
		part = next
	}
}
