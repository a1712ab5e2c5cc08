package stream

import (
	"math"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A Receiver is handed messages.
type Receiver interface {
	// Receive hands over a piece of a message, valid during the call. End says that it is the last of its
	// message. On one stream the pieces of one message follow each other, with pieces of other streams'
	// messages in between.
	Receive(stream uint16, ppid uint32, piece []byte, end bool)
}

// Receiving is how messages are received.
type Receiving struct {
	// Streams is how many the peer may use, from 0 on.
	Streams int
	// Interleave says that they come in I-DATA chunks. That all chunks are of the one kind is for the caller
	// to see (RFC 8260, section 2.2.1).
	Interleave bool
	// Window bounds, in bytes of payload, what is held because it has overtaken something else. With what it costs to hold that it
	// is up to one and a half times as much.
	Window int
	// Pool is where the memory for that comes from; nil: the association has its own.
	Pool *Pool
}

// Incoming puts messages together.
type Incoming struct {
	config  Receiving
	to      Receiver
	streams []inbound
	held    map[key]*held
	bytes   int
	closed  bool
}

// inbound is the state of a stream. At most one message of it is open: begun to be handed over, and not
// ended.
type inbound struct {
	next      uint32 // the number of the ordered message that is due, or open
	isOpen    bool
	unordered bool   // of the open message,
	number    uint32 // as are its number,
	ppid      uint32 // its payload protocol,
	after     uint32 // and where it goes on: a TSN (DATA), or the number of a fragment (I-DATA)
	waiting   fifo   // beginnings of unordered messages that could not be handed over yet
}

// A key is what a fragment is looked for by when its turn has come.
type key struct {
	stream, kind  uint16
	number, place uint32
}

const (
	keyOrdered   = iota // the number of a message, and the place in it
	keyUnordered        // the same
	keyTSN              // DATA is found by its TSN, but for the beginnings of ordered messages
)

// fragmentCost is what a fragment counts that is held, beside its payload.
const fragmentCost = 128

// NewIncoming returns streams on which nothing has arrived.
func NewIncoming(c Receiving, to Receiver) *Incoming {
	if c.Pool == nil {
		c.Pool = new(Pool)
	}
	return &Incoming{config: c, to: to, streams: make([]inbound, c.Streams), held: make(map[key]*held)}
}

// Held is how many bytes are kept because they have overtaken others.
func (in *Incoming) Held() int { return in.bytes }

// Window is how many bytes there is room for: what the peer is told (a_rwnd). It knows of payload alone. If what it costs to hold
// fragments was taken off, one that fills its window would find that there is no room for the last of them, and above all for those
// that are sent again, which all others wait for. So that is taken off only where fragments are short.
func (in *Incoming) Window() int {
	return max(min(in.config.Window-in.payload(), in.most()-in.bytes), 0)
}

// payload is how many bytes of payload are held.
func (in *Incoming) payload() int { return in.bytes - fragmentCost*len(in.held) }

// most bounds what is held, with what it costs.
func (in *Incoming) most() int { return in.config.Window + in.config.Window/2 }

// Resize changes what is held at most.
func (in *Incoming) Resize(window int) { in.config.Window = window }

// Close ends the delivery, and gives back all memory. It may be called from within [Receiver.Receive].
func (in *Incoming) Close() {
	in.closed = true
	for _, h := range in.held {
		in.config.Pool.put(h)
	}
	in.held, in.bytes = nil, 0
}

// Add takes a fragment, whose TSN has not been there before, and hands over what can be. Taken reports
// whether it has. If it was not, for want of room, it must not be acknowledged, and comes again. Next says
// that all with lower TSNs have arrived: there is room for such a one, since others may wait for it. The error
// is a [Violation].
func (in *Incoming) Add(d *chunk.Data, next bool) (taken bool, err error) {
	switch {
	case in.closed:
		return false, nil
	case int(d.Stream) >= len(in.streams):
		return true, noStream(d, len(in.streams))
	case len(d.Payload) == 0:
		return false, noData(d)
	case len(d.Payload) > 1<<mostClass:
		return false, violation(d, "a chunk that is longer than chunks can be")
	case d.Interleaved && d.Flags&chunk.FlagBegin == 0 && d.Fragment == 0:
		return false, violation(d, "only the first fragment has the number 0")
	}
	s := &in.streams[d.Stream]
	now, v := in.due(s, d)
	switch {
	case v != nil:
		return false, v
	case !now:
		return in.hold(s, d, next)
	}
	if v := in.deliver(s, d); v != nil {
		return true, v
	}
	return true, in.proceed(s, d.Stream)
}

// place is where a fragment stands.
func (in *Incoming) place(d *chunk.Data) uint32 {
	if d.Interleaved {
		return d.Fragment
	}
	return d.TSN
}

// due reports whether a fragment can be handed over now.
func (in *Incoming) due(s *inbound, d *chunk.Data) (now bool, v *Violation) {
	begins, unordered := d.Flags&chunk.FlagBegin != 0, d.Flags&chunk.FlagUnordered != 0
	if !unordered && in.behind(d.Message, s.next) {
		return false, violation(d, "a message that was there before")
	}
	if !s.isOpen {
		return begins && (unordered || d.Message == s.next), nil
	}
	same := unordered == s.unordered && (d.Message == s.number || unordered && !d.Interleaved)
	switch ahead := int32(in.place(d) - s.after); {
	case ahead == 0 && same && !begins:
		return true, nil
	case ahead == 0 && (same || !d.Interleaved):
		return false, violation(d, "a message begins, or goes on, within another one")
	case same && (begins || ahead < 0):
		if unordered && !d.Interleaved {
			break // DATA does not number unordered messages
		}
		return false, violation(d, "a fragment that was there before")
	}
	return false, nil
}

// behind reports whether a number is below another one: SSNs have 16 bits, MIDs 32.
func (in *Incoming) behind(n, other uint32) bool {
	if in.config.Interleave {
		return int32(n-other) < 0
	}
	return int16(n-other) < 0
}

// deliver hands a fragment over.
func (in *Incoming) deliver(s *inbound, d *chunk.Data) *Violation {
	if d.Flags&chunk.FlagBegin != 0 {
		s.isOpen, s.unordered, s.number, s.ppid = true, d.Flags&chunk.FlagUnordered != 0, d.Message, d.PPID
	}
	s.after = in.place(d) + 1
	end := d.Flags&chunk.FlagEnd != 0
	if s.isOpen = !end; end && !s.unordered {
		if s.next++; !in.config.Interleave {
			s.next &= math.MaxUint16
		}
	}
	if end && len(in.held) > 0 {
		if h := in.held[in.after(s, d.Stream)]; h != nil && h.Flags&chunk.FlagBegin == 0 {
			return violation(&h.Data, "a message goes on behind its end")
		}
	}
	in.to.Receive(d.Stream, s.ppid, d.Payload, end)
	return nil
}

// proceed hands over what has waited for what was handed over last.
func (in *Incoming) proceed(s *inbound, stream uint16) error {
	for len(in.held) > 0 && !in.closed {
		h, v := in.following(s, stream)
		switch {
		case v != nil:
			return v
		case h == nil:
			return nil
		}
		if v := in.deliver(s, &h.Data); v != nil {
			return v
		}
		if in.closed {
			return nil
		}
		in.config.Pool.put(h)
	}
	return nil
}
