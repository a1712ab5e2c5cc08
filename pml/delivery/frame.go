package delivery

import "github.com/strandmp/strand/btl"

// A Frame is a frame on its way out, from the moment that it is made until nobody needs it
// any more. Whoever makes frames embeds it and has Owner name the whole.
type Frame struct {
	btl.Frame
	Line  *Line // that has it, or had it last; nil while it is to go another way
	Given int64 // when it was given to that line, if its owner notes it; else 0

	Urgent   bool // it goes again before those that are not
	numbered bool
	sent     bool // a transport has taken it, perhaps one that is broken by now
	acked    bool // the peer has it; of one without a number: it has gone
	held     bool // by the transport
	queued   bool // for replay

	next         *Frame // in a Queue
	newer, older *Frame // on the line

	whole   *Frame // that this is a part of
	at      int    // where in that
	parts   *Frame // the first of its parts that are not done, if it was cut
	sibling *Frame // the next part of the same frame
}

// Fate is what is to become of a frame.
type Fate uint8

const (
	// Kept: a transport has it, or it is to go again, or parts of it do.
	Kept Fate = iota
	// Unread: no transport reads its payload any more, but it may have to go again. The
	// payload may be replaced by a copy.
	Unread
	// Over: nobody needs it any more.
	Over
)

// Fate says what is to become of the frame. Its owner asks after each event: when a line
// has passed it on or released it, when it was acknowledged, when it has left the replay
// queue.
func (f *Frame) Fate() Fate {
	switch {
	case f.held || f.queued || f.parts != nil:
		return Kept
	case f.whole != nil:
		if f.whole.acked {
			return Over
		}
		return Kept
	case f.numbered && !f.acked:
		return Unread
	}
	return Over
}

// Reset makes the frame one that was never used; Owner stays.
func (f *Frame) Reset() {
	f.Payload, f.More, f.Size, f.Progress, f.Next = nil, nil, 0, 0, nil
	f.Line, f.Given, f.whole, f.parts, f.sibling, f.at = nil, 0, nil, nil, nil, 0
	f.Urgent, f.numbered, f.sent, f.acked, f.held, f.queued = false, false, false, false, false, false
}

// IsDone reports whether a frame that was acknowledged is needed no more, and has never been part of another one or cut: as most are.
func (f *Frame) IsDone() bool { return !f.held && !f.queued && f.whole == nil && f.parts == nil }

// ResetUncut is Reset of a frame that IsDone, whose payload was one piece.
func (f *Frame) ResetUncut() {
	f.Payload, f.Size, f.Progress, f.Next, f.Line, f.Given = nil, 0, 0, nil, nil, 0
	f.Urgent, f.numbered, f.sent, f.acked = false, false, false, false
}

// Numbered reports whether the peer is to acknowledge the frame.
func (f *Frame) Numbered() bool { return f.numbered }

// Pending reports whether the peer is to acknowledge the frame and has not done so. It is not a part.
func (f *Frame) Pending() bool { return f.numbered && !f.acked && f.whole == nil }

// Held reports whether a transport has the frame.
func (f *Frame) Held() bool { return f.held }

// Older is the frame that the same transport took before this one and still holds, or nil.
func (f *Frame) Older() *Frame { return f.older }

// Again reports whether a transport has had the frame before, or what it is a part of.
func (f *Frame) Again() bool { return f.sent }

// Delivered reports whether the peer has all of the frame, or of the one that this is a
// part of.
func (f *Frame) Delivered() bool { return f.acked || f.whole != nil && f.whole.acked }

// wasSent reports whether a transport has taken the frame, or any of its parts. One part is
// enough: a peer that does not want the frame acknowledges it with the first.
func (f *Frame) wasSent() bool {
	sent := f.sent
	for part := f.parts; part != nil && !sent; part = part.sibling {
		sent = part.sent
	}
	return sent
}
