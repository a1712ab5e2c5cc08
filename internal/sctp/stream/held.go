package stream

import "github.com/strandmp/strand/internal/sctp/chunk"

// key is what a fragment is found by.
func (in *Incoming) key(d *chunk.Data) key {
	begins, unordered := d.Flags&chunk.FlagBegin != 0, d.Flags&chunk.FlagUnordered != 0
	switch {
	case !in.config.Interleave && (unordered || !begins):
		return key{kind: keyTSN, place: d.TSN}
	case !in.config.Interleave:
		return key{stream: d.Stream, kind: keyOrdered, number: d.Message}
	case unordered:
		return key{stream: d.Stream, kind: keyUnordered, number: d.Message, place: d.Fragment}
	}
	return key{stream: d.Stream, kind: keyOrdered, number: d.Message, place: d.Fragment}
}

// after is what the fragment is found by that continues a stream's open message.
func (in *Incoming) after(s *inbound, stream uint16) key {
	switch {
	case !in.config.Interleave:
		return key{kind: keyTSN, place: s.after}
	case s.unordered:
		return key{stream: stream, kind: keyUnordered, number: s.number, place: s.after}
	}
	return key{stream: stream, kind: keyOrdered, number: s.number, place: s.after}
}

// hold keeps a fragment for later.
func (in *Incoming) hold(s *inbound, d *chunk.Data, next bool) (taken bool, err error) {
	cost := len(d.Payload) + fragmentCost
	k := in.key(d)
	switch {
	case in.held[k] != nil:
		return false, violation(d, "a fragment that was there before")
	case next && in.bytes+cost > 2*in.config.Window:
		return false, noMemory(d, in.bytes)
	case !next && len(d.Payload) > in.Window(), !next && in.bytes+cost > in.most():
		return false, nil
	}
	h := in.config.Pool.get(d)
	in.held[k] = h
	in.bytes += cost
	if d.Flags&(chunk.FlagBegin|chunk.FlagUnordered) == chunk.FlagBegin|chunk.FlagUnordered {
		s.waiting.push(h)
	}
	return true, nil
}

// release takes a fragment out of what is held.
func (in *Incoming) release(k key) *held {
	h := in.held[k]
	if h != nil {
		delete(in.held, k)
		in.bytes -= len(h.Payload) + fragmentCost
	}
	return h
}

// following takes out what is to be handed over next on a stream; nil: it is not there yet. Unordered
// messages come first.
func (in *Incoming) following(s *inbound, stream uint16) (*held, *Violation) {
	if s.isOpen {
		k := in.after(s, stream)
		h := in.held[k]
		if h == nil {
			return nil, nil
		}
		if now, v := in.due(s, &h.Data); !now || h.Stream != stream { // a TSN says nothing of the stream
			if v == nil {
				v = violation(&h.Data, "a message goes on within another one")
			}
			return nil, v
		}
		return in.release(k), nil
	}
	if h := s.waiting.pop(); h != nil {
		return in.release(in.key(&h.Data)), nil
	}
	return in.release(key{stream: stream, kind: keyOrdered, number: s.next}), nil
}

// A fifo of fragments.
type fifo struct{ head, tail *held }

func (f *fifo) push(h *held) {
	if f.head == nil {
		f.head = h
	} else {
		f.tail.next = h
	}
	f.tail = h
}

func (f *fifo) pop() *held {
	h := f.head
	if h != nil {
		f.head, h.next = h.next, nil
	}
	return h
}
