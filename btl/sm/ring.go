package sm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/strandmp/strand/btl"
)

const (
	// line is a cache line: records begin at multiples of it.
	line = 64
	// wordSize is that of the word that each record begins with.
	wordSize = 8
	// minRing and maxRing bound the bytes of a ring, which are a power of two.
	minRing, maxRing = 32 << 10, 64 << 20
	// wholeLimit is the largest frame, word, header and payload, that is written as one record: one of
	// a message of 8 KB is.
	wholeLimit = 8<<10 + 2*line
	// tellEvery: the writer is told each time that an eighth of the ring was read.
	tellEvery = 8
)

// Kinds of records. The word has the kind in bits 40 to 43, the length of the header in bits 32
// to 39 and a length in bytes in bits 0 to 31; all others are 0. A word of 0 is no record. Before
// the writer announces a record it clears the word behind it.
const (
	kindWhole   = 1 + iota // word, header, payload of that length
	kindBegin              // word, header of a frame; its payload, of that length, follows in pieces
	kindPiece              // word; from the next line on that many bytes of the payload
	kindPad                // that many bytes of nothing: the next record is at the start of the ring
	kindGoodbye            // word: the end, in order
	kindLent               // word, what is said of a loan, header of a frame; its payload, of that length, is the sender's memory
)

// Where a record of kindLent has what, from its word on.
const (
	stateAt   = 1 * wordSize
	addressAt = 2 * wordSize // of the payload
	copyAt    = 3 * wordSize // of the copy, where the state is moved
	lentAt    = 4 * wordSize // the frame's header
)

func wordOf(kind, header, length int) uint64 {
	return uint64(uint32(length)) | uint64(uint8(header))<<32 | uint64(kind)<<40
}

func kindOf(word uint64) int { return int(word >> 40) }

// lines rounds up to whole lines.
func lines(n int) int { return (n + line - 1) &^ (line - 1) }

// at is a word of shared memory. Its address is a multiple of 8.
func at(mem []byte, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&mem[offset]))
}

var errHead = errors.New("malformed ring: it says that more was read than was written")

// A writer is the sending end of a ring.
type writer struct {
	ring []byte
	tail uint64         // bytes written
	seen uint64         // bytes read by the peer, as of our last look at head
	head *atomic.Uint64 // bytes read, as the peer says
	err  error          // head said what can not be
}

// has reports whether there is room for n bytes and for the cleared word behind them.
func (w *writer) has(n int) bool {
	if uint64(len(w.ring))-(w.tail-w.seen) >= uint64(n+line) {
		return true
	}
	head := w.head.Load()
	if head-w.seen > w.tail-w.seen || head%line != 0 {
		w.err = errHead
		return false
	}
	w.seen = head
	return uint64(len(w.ring))-(w.tail-w.seen) >= uint64(n+line)
}

// end is how many bytes there are to the end of the ring.
func (w *writer) end() int { return len(w.ring) - int(w.tail)&(len(w.ring)-1) }

// room returns n bytes for a record, in a row, or nil.
func (w *writer) room(n int) []byte {
	if end := w.end(); n > end {
		if !w.has(end) {
			return nil
		}
		w.publish(wordOf(kindPad, 0, end), end)
	}
	if !w.has(n) {
		return nil
	}
	from := int(w.tail) & (len(w.ring) - 1)
	return w.ring[from : from+n : from+n]
}

// publish announces a record of n bytes by its word.
func (w *writer) publish(word uint64, n int) {
	mask := len(w.ring) - 1
	from := int(w.tail) & mask
	w.tail += uint64(n)
	// An ordinary write will do: it comes before the word's, which is atomic.
	*(*uint64)(unsafe.Pointer(&w.ring[int(w.tail)&mask])) = 0
	at(w.ring, from).Store(word)
	w.lookAhead(n)
}

const (
	// ahead is how far before its records the writer fetches the lines that it will write. The
	// reader has them from the time when it read them last. To write one without having fetched it
	// takes as long as the rest of a short message.
	ahead = 4 * line
	// mostAhead is the longest record for which it does. In a longer one the processor sees by
	// itself what comes next.
	mostAhead = 1 << 10
)

// lookAhead fetches as many bytes as the last record had, as far as they are the writer's and lie in a row.
func (w *writer) lookAhead(n int) {
	from := int(w.tail+ahead) & (len(w.ring) - 1)
	if n <= mostAhead && from+n <= len(w.ring) && w.tail+uint64(ahead+n)-w.seen <= uint64(len(w.ring)) {
		prefetchToWrite(unsafe.Pointer(&w.ring[from]), n)
	}
}

// whole writes a frame as one record, and reports whether there was room.
func (w *writer) whole(f *btl.Frame) bool {
	h := len(f.Header)
	n := lines(wordSize + h + f.Size)
	b := w.room(n)
	if b == nil {
		return false
	}
	switch first := line - wordSize - h; {
	case len(f.More) > 0:
		f.CopyPayload(b[wordSize+h:])
	case first <= 0 || f.Size <= first:
		copy(b[wordSize+h:], f.Payload[:f.Size])
	default:
		// The reader polls the first line. It would fetch it in between if that was written first.
		copy(b[line:], f.Payload[first:f.Size])
		copy(b[wordSize+h:line], f.Payload)
	}
	copy(b[wordSize:], f.Header)
	w.publish(wordOf(kindWhole, h, f.Size), n)
	return true
}

// payloadOf is where the payload of the frame lies that was the last one written, as one record.
func (w *writer) payloadOf(f *btl.Frame) uint64 {
	before := wordSize + len(f.Header)
	return w.tail - uint64(lines(before+f.Size)-before)
}

// again copies what was written at a place, in a row, unless that may have been overwritten since: a record ends
// there that was written later, or the cleared word behind it lies there. Neither is before the peer has read it.
func (w *writer) again(place uint64, b []byte) bool {
	if w.tail+line-place > uint64(len(w.ring)) {
		return false
	}
	copy(b, w.ring[int(place)&(len(w.ring)-1):])
	return true
}

// begin writes the header of a frame whose payload follows in pieces.
func (w *writer) begin(f *btl.Frame) bool {
	n := lines(wordSize + len(f.Header))
	b := w.room(n)
	if b == nil {
		return false
	}
	copy(b[wordSize:], f.Header)
	w.publish(wordOf(kindBegin, len(f.Header), f.Size), n)
	return true
}

// piece writes the next bytes of a frame's payload, and returns how many.
func (w *writer) piece(f *btl.Frame, most int) int {
	n := min(f.Size-f.Progress, most)
	if end := w.end(); line+n > end && end > most/2 {
		n = end - line // a shorter piece, rather than so much padding
	}
	b := w.room(lines(line + n))
	if b == nil {
		return 0
	}
	b = b[line : line+n]
	if len(f.More) == 0 {
		copy(b, f.Payload[f.Progress:])
	} else {
		f.Pieces(f.Progress, func(p []byte) bool {
			b = b[copy(b, p):]
			return len(b) > 0
		})
	}
	w.publish(wordOf(kindPiece, 0, n), lines(line+n))
	return n
}

// goodbye writes the end.
func (w *writer) goodbye() bool {
	if w.room(line) == nil {
		return false
	}
	w.publish(wordOf(kindGoodbye, 0, 0), line)
	return true
}

// A reader is the receiving end of a ring.
type reader struct {
	ring []byte
	pos  uint64         // bytes read
	told uint64         // of which the peer knows
	head *atomic.Uint64 // where it is told
}

// A record is what a reader has found. It refers to the ring, where the peer may still write. So
// header and payload must be copied before they are looked at.
type record struct {
	kind    int
	size    int // bytes in the ring
	length  int
	header  []byte
	payload []byte
	loan    []byte // of kindLent: from the state on, all words before the header
}

// next is the word of the next record, 0 if there is none.
func (r *reader) next() uint64 {
	return at(r.ring, int(r.pos)&(len(r.ring)-1)).Load()
}

// whole returns header and payload of the record if it is a frame in one piece, as most are, and lies
// where such a record may; else nil, and parse says what it is.
func (r *reader) whole(word uint64) (header, payload []byte) {
	h := int(uint8(word >> 32))
	if kindOf(word) != kindWhole || h == 0 || h > btl.MaxHeader || uint32(word) > wholeLimit {
		return nil, nil
	}
	rest, n := r.ring[int(r.pos)&(len(r.ring)-1):], int(uint32(word))
	if lines(wordSize+h+n) > len(rest) {
		return nil, nil
	}
	return rest[wordSize : wordSize+h], rest[wordSize+h : wordSize+h+n]
}

// parse says what a record is.
func (r *reader) parse(word uint64, c *record) error {
	*c = record{}
	from := int(r.pos) & (len(r.ring) - 1)
	rest := r.ring[from:]
	c.kind, c.length = kindOf(word), int(uint32(word))
	h, end := int(uint8(word>>32)), wordSize
	if c.length < 0 || c.kind != kindBegin && c.kind != kindLent && c.length > len(r.ring) {
		return fmt.Errorf("malformed record: %d bytes where the ring has %d", uint32(word), len(r.ring))
	}
	switch c.kind {
	case kindWhole:
		c.size = lines(wordSize + h + c.length)
		end = wordSize + h + c.length
	case kindBegin:
		c.size = lines(wordSize + h)
	case kindPiece:
		c.size = line + lines(c.length)
	case kindPad:
		c.size = c.length
	case kindGoodbye:
		c.size = line
	case kindLent:
		c.size = lines(lentAt + h)
	}
	switch {
	case c.size == 0:
		return fmt.Errorf("malformed record: unknown kind %#x", c.kind)
	case c.size > len(rest) || c.size == len(r.ring):
		return fmt.Errorf("malformed record: %d bytes where the ring has %d", c.size, len(rest))
	case c.kind == kindPad && c.size != len(rest):
		return fmt.Errorf("malformed record: it skips %d bytes, there are %d to the end of the ring", c.size, len(rest))
	case (c.kind == kindWhole || c.kind == kindBegin || c.kind == kindLent) != (h > 0) || h > btl.MaxHeader:
		return fmt.Errorf("malformed frame: header of %d bytes in a record of kind %d", h, c.kind)
	case c.kind == kindGoodbye && c.length != 0, (c.kind == kindPiece || c.kind == kindBegin || c.kind == kindLent) && c.length == 0:
		return fmt.Errorf("malformed record: %d bytes in one of kind %d", c.length, c.kind)
	case c.kind == kindPiece:
		c.payload = rest[line : line+c.length]
	case c.kind == kindLent:
		c.loan, c.header = rest[wordSize:lentAt], rest[lentAt:lentAt+h]
	default:
		c.header, c.payload = rest[wordSize:wordSize+h], rest[wordSize+h:max(end, wordSize+h)]
	}
	return nil
}

// advance gives n bytes back to the writer, and reports whether the writer was told.
func (r *reader) advance(n int) bool {
	r.pos += uint64(n)
	if r.pos-r.told < uint64(len(r.ring)/tellEvery) {
		return false
	}
	r.told = r.pos
	r.head.Store(r.pos)
	return true
}
