package stream

import (
	"github.com/strandmp/strand/internal/sctp/chunk"
)

// A Message is what is sent, on one stream. It and its payload belong to the association from
// [Outgoing.Push] on, until all of it has been confirmed. Then it may be used again.
type Message struct {
	Stream uint16
	// Unordered says that it does not wait for others of its stream.
	Unordered bool
	// PPID is the payload protocol.
	PPID uint32
	// Pieces are the payload, and Size is how many bytes they have together: at least one.
	Pieces [][]byte
	Size   int
	// Owner belongs to whoever made the message.
	Owner any

	next    *Message // in its queue
	arrival uint64   // its place among all messages
	number  uint32   // in its stream
	cut     int      // bytes that are in fragments
	cuts    uint32   // fragments that were made,
	open    uint32   // and that are not confirmed
}

// A Fragment is a part of a message that travels in one chunk. It never changes: it is sent again as it is.
type Fragment struct {
	Message        *Message
	Offset, Length uint32
	Number         uint32 // 0 is the first
}

// Header makes the chunk's, without the payload. It writes it to its place: to copy what has just been written piece by piece,
// the processor waits until all of it has reached the cache.
func (f Fragment) Header(d *chunk.Data, tsn uint32, interleave bool) {
	m := f.Message
	d.Interleaved, d.Flags, d.TSN, d.Stream, d.Message, d.Fragment, d.PPID = interleave, 0, tsn, m.Stream, m.number, f.Number, m.PPID
	if f.Number == 0 {
		d.Flags |= chunk.FlagBegin
	}
	if int(f.Offset)+int(f.Length) == m.Size {
		d.Flags |= chunk.FlagEnd
	}
	if m.Unordered {
		d.Flags |= chunk.FlagUnordered
	}
}

// AppendTo appends the fragment's payload.
func (f Fragment) AppendTo(b []byte) []byte {
	skip, left := int(f.Offset), int(f.Length)
	for _, p := range f.Message.Pieces {
		if skip >= len(p) {
			skip -= len(p)
			continue
		}
		p = p[skip:min(skip+left, len(p))]
		b = append(b, p...)
		if left -= len(p); left == 0 {
			break
		}
		skip = 0
	}
	return b
}

// Size is how many bytes the chunk takes in a packet.
func (f Fragment) Size(interleave bool) int { return chunk.Padded(header(interleave) + int(f.Length)) }

func header(interleave bool) int {
	if interleave {
		return chunk.InterleavedHeader
	}
	return chunk.DataHeader
}

// Confirm notes that the fragment has arrived for good. It reports whether all of the message has.
func (f Fragment) Confirm() (whole bool) {
	m := f.Message
	m.open--
	return m.open == 0 && m.cut == m.Size
}
