package sm

import (
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/coherence"
)

const (
	// line is a cache line. A slot has two: processors fetch them in pairs.
	line     = 64
	slotSize = 2 * line
	// block is what the store is given away in. A processor that reads one line after the other fetches some of those behind before it is
	// asked for them: those of the next record would be taken from its writer.
	block = 8 * line
	// wordSize is that of the word that each slot begins with, slotRoom what is behind it.
	wordSize = 8
	slotRoom = slotSize - wordSize
	// minRing and maxRing bound the bytes of a ring, which are a power of two. One in slotShare of them is a slot's.
	minRing, maxRing = 32 << 10, 64 << 20
	slotShare        = 8
	// wholeLimit is the largest frame, word, header and payload, that is written as one record: one of
	// a message of 8 KB is.
	wholeLimit = 8<<10 + 2*line
	// tellEvery: the writer is told each time that an eighth of the slots, or of the store, was read.
	tellEvery = 8
)

// Kinds of records. The word has the turn of the slots in its upper bits, the kind in bits 40 to 43, the length of the header in bits 32
// to 39 and a length in bytes in bits 0 to 31. The header is in the slot.
const (
	kindWhole   = 1 + iota // a frame; its payload is in the slot too, if there is room, and else in the store
	kindBegin              // the header of a frame; its payload, of that length, follows in pieces
	kindPiece              // that many bytes of the payload, in the store
	kindGoodbye            // the end, in order
	kindBunch              // several frames, in the store (bunch.go)
	kindLent               // what is said of a loan, then the header of a frame; its payload, of that length, is the sender's memory
)

// oneTurn is added to what a word has in its upper bits each time that the slots have been gone through. So a word of the
// turn before is no record, and neither is one that was never written: the first turn is 1.
const (
	oneTurn  = 1 << 44
	kindMask = 15
)

// Where the slot of a record of kindLent has what, from behind its word on.
const (
	stateAt   = 0 * wordSize
	addressAt = 1 * wordSize // of the payload
	copyAt    = 2 * wordSize // of the copy, where the state is moved
	loanSize  = 3 * wordSize // then the header

	_ = uint(slotRoom - loanSize - btl.MaxHeader) // there is room
)

func wordOf(kind, header, length int) uint64 {
	return uint64(uint32(length)) | uint64(uint8(header))<<32 | uint64(kind)<<40
}

func kindOf(word uint64) int { return int(word>>40) & kindMask }

// blocks rounds up to whole blocks.
func blocks(n int) int { return (n + block - 1) &^ (block - 1) }

// inStore is how many bytes of the store a frame takes that is written as one record.
func inStore(header, size int) int {
	if header+size <= slotRoom {
		return 0
	}
	return blocks(size)
}

// at is a word of shared memory. Its address is a multiple of 8.
func at(mem []byte, offset int) *atomic.Uint64 {
	return (*atomic.Uint64)(unsafe.Pointer(&mem[offset]))
}

var errHead = errors.New("malformed ring: it says that more was read than was written")

// A position in a ring is where the next record begins. Each end keeps its own.
type position struct {
	slots []byte // as many bytes as a power of two
	store []byte
	slot  int    // where it begins among the slots
	turn  uint64 // of the slots, as words have it
	from  int    // where what belongs to it begins in the store, if there is room behind
	count uint64 // records before it
	bytes uint64 // of the store that belong to those, with what was left free at its end
}

func positionIn(ring []byte) position {
	n := len(ring) / slotShare
	return position{slots: ring[:n:n], store: ring[n:], turn: oneTurn}
}

// after is where the slot begins that comes so many later.
func (p *position) after(n int) int { return (p.slot + n*slotSize) & (len(p.slots) - 1) }

// block is where n bytes of the store begin that belong to the next record, and how many that takes
// with those that are left free since they are too few.
func (p *position) block(n int) (from, taken int) {
	if left := len(p.store) - p.from; n > left {
		return 0, left + n
	}
	return p.from, n
}

// pass goes on to the next record. The one before it has n bytes of the store.
func (p *position) pass(n int) {
	if n > 0 {
		from, taken := p.block(n)
		p.from, p.bytes = from+n, p.bytes+uint64(taken)
	}
	p.count++
	if p.slot = p.after(1); p.slot == 0 {
		p.turn += oneTurn
	}
}

// A writer is the sending end of a ring.
type writer struct {
	position
	ends  []uint64       // by slot: the bytes up to the end of the record there
	most  uint64         // records that may be unread before the slots left are for bunches
	seen  uint64         // records read by the peer, as of our last look at head
	freed uint64         // the bytes up to the end of those
	head  *atomic.Uint64 // records read, as the peer says
	err   error          // head said what can not be
	hasty bool           // the peer looks again (again_linux.go)

	bunch  []byte // the last record, if it is a bunch that may take another frame
	filled int    // bytes of it
}

func newWriter(ring []byte, head *atomic.Uint64) writer {
	w := writer{position: positionIn(ring), head: head}
	w.ends = make([]uint64, len(w.slots)/slotSize)
	w.most = uint64(len(w.ends) / 8 * bunchesFrom)
	return w
}

// room returns the n bytes of the store for the next record. It reports false if there are none, or no slot.
func (w *writer) room(n int) (block []byte, ok bool) {
	from, taken := w.block(n)
	if !w.has(taken) {
		w.look()
		if !w.has(taken) {
			return nil, false
		}
	}
	return w.store[from : from+n : from+n], true
}

func (w *writer) has(taken int) bool {
	return w.count-w.seen < uint64(len(w.ends)) && w.bytes-w.freed+uint64(taken) <= uint64(len(w.store))
}

// look finds out what the peer has read.
func (w *writer) look() {
	head := w.head.Load()
	if head-w.seen > w.count-w.seen {
		w.err = errHead
		return
	}
	if head != w.seen {
		w.seen, w.freed = head, w.ends[(head-1)&uint64(len(w.ends)-1)]
	}
}

// unread is how many bytes the peer has not read, as far as we know.
func (w *writer) unread() int { return int(w.count-w.seen)*slotSize + int(w.bytes-w.freed) }

// slotHere is the next record's slot.
func (p *position) slotHere() *[slotSize]byte {
	return (*[slotSize]byte)(unsafe.Pointer(&p.slots[p.slot]))
}

// here is what the next record's slot has behind its word.
func (p *position) here() []byte { return p.slots[p.slot+wordSize : p.slot+slotSize] }

// publish announces the next record, which has so many bytes in its slot, and n of the store, by its word.
func (w *writer) publish(word uint64, used, n int) {
	slot := at(w.slots, w.slot)
	word |= w.turn
	index := w.count & uint64(len(w.ends)-1)
	w.pass(n)
	w.ends[index] = w.bytes
	w.bunch = nil
	w.tell(slot, word)
	w.lookAhead(used, min(n, int(uint32(word))))
}

// tell announces a record by its word.
func (w *writer) tell(at *atomic.Uint64, word uint64) {
	if w.hasty {
		announce(at, word)
	} else {
		at.Store(word)
	}
}

// fits reports whether a frame goes into one slot, of which one is free that is not left for bunches.
func (w *writer) fits(f *btl.Frame) bool {
	return len(f.Header)+f.Size <= slotRoom && w.count-w.seen < w.most
}

// short writes a frame that fits. The reader polls the slot. It would fetch it in between if the slot was written from its beginning:
// so the payload goes first, then the header, and the word last.
func (w *writer) short(f *btl.Frame) {
	h := len(f.Header)
	slot := w.slotHere()
	copyPayload(slot[wordSize+h:], f)
	copy(slot[wordSize:], f.Header)
	w.ends[w.count&uint64(len(w.ends)-1)] = w.bytes
	word := wordOf(kindWhole, h, f.Size) | w.turn
	w.bunch = nil
	w.pass(0)
	w.tell(at(slot[:], 0), word)
	if w.count+slotsAhead-w.seen < uint64(len(w.ends)) {
		coherence.FetchToWrite(unsafe.Pointer(&w.slots[w.after(slotsAhead)]), wordSize+h+f.Size)
	}
}

// whole writes a frame as one record, or into a bunch, and reports whether there was room.
func (w *writer) whole(f *btl.Frame) bool {
	if w.isAhead() && w.intoBunch(f) {
		return true
	}
	if w.fits(f) {
		w.short(f)
		return true
	}
	return w.record(f)
}

// record writes a frame as one record.
func (w *writer) record(f *btl.Frame) bool {
	h := len(f.Header)
	n := inStore(h, f.Size)
	to, ok := w.room(n)
	if !ok {
		return false
	}
	slot := w.here()
	used := wordSize + h
	if n == 0 {
		to = slot[h:]
		used += f.Size
	}
	copyPayload(to, f) // first, as in short
	copy(slot, f.Header)
	w.publish(wordOf(kindWhole, h, f.Size), used, n)
	return true
}

func copyPayload(to []byte, f *btl.Frame) {
	if len(f.More) > 0 {
		f.CopyPayload(to)
	} else {
		coherence.Copy(to, f.Payload[:f.Size])
	}
}

// inSlot is the bit of what payloadOf returns that says that the payload lies in a slot, behind a header of as many bytes as
// there are in bits 48 to 55; the lower bits are the record's number.
const inSlot = 1 << 63

// payloadOf is where the payload of the frame lies that was the last one written, in one piece.
func (w *writer) payloadOf(f *btl.Frame) uint64 {
	h := len(f.Header)
	if w.bunch != nil {
		from := w.filled - words(wordSize+h+f.Size) + wordSize + h
		return w.bytes - uint64(len(w.bunch)-from)
	}
	if inStore(h, f.Size) == 0 {
		return inSlot | uint64(h)<<48 | (w.count-1)&(1<<48-1)
	}
	return w.bytes - uint64(blocks(f.Size))
}

// again copies what was written, unless that may have been overwritten since. It is not before the peer has read it.
func (w *writer) again(payload uint64, b []byte) bool {
	if payload&inSlot == 0 {
		if w.bytes-payload > uint64(len(w.store)) {
			return false
		}
		copy(b, w.store[payload%uint64(len(w.store)):])
		return true
	}
	before := (w.count - payload) & (1<<48 - 1) // records ago
	if before > uint64(len(w.ends)) {
		return false
	}
	copy(b, w.slots[w.after(-int(before))+wordSize+int(payload>>48&(1<<8-1)):])
	return true
}

// begin writes the header of a frame whose payload follows in pieces.
func (w *writer) begin(f *btl.Frame) bool {
	if _, ok := w.room(0); !ok {
		return false
	}
	copy(w.here(), f.Header)
	w.publish(wordOf(kindBegin, len(f.Header), f.Size), line, 0)
	return true
}

const (
	// A frame that is longer than wholeLimit is written in pieces: while the receiver copies one the sender copies the
	// next. Each is a quarter of the frame, or of the store, within these bounds: a larger one has the receiver
	// wait, smaller ones cost more than they gain.
	smallPiece, largePiece = 2 << 10, 64 << 10
)

// pieceOf is the most that a piece has of a frame of that size.
func (w *writer) pieceOf(size int) int {
	return min(max(blocks(size/4), smallPiece), largePiece, len(w.store)/4)
}

// piece writes the next bytes of a frame's payload, and returns how many.
func (w *writer) piece(f *btl.Frame, most int) int {
	n := min(f.Size-f.Progress, most)
	if left := len(w.store) - w.from; n > left && left > most/2 {
		n = left // a shorter piece, rather than so much that is left free
	}
	b, ok := w.room(blocks(n))
	if !ok {
		return 0
	}
	b = b[:n]
	if len(f.More) == 0 {
		coherence.Copy(b, f.Payload[f.Progress:])
	} else {
		f.Pieces(f.Progress, func(p []byte) bool {
			b = b[coherence.Copy(b, p):]
			return len(b) > 0
		})
	}
	w.publish(wordOf(kindPiece, 0, n), line, blocks(n))
	return n
}

// goodbye writes the end.
func (w *writer) goodbye() bool {
	if _, ok := w.room(0); !ok {
		return false
	}
	w.publish(wordOf(kindGoodbye, 0, 0), line, 0)
	return true
}

// A reader is the receiving end of a ring.
type reader struct {
	position
	each, all uint64         // after how many records, or bytes of the store, the peer is told
	told      uint64         // records read of which the peer knows
	toldBytes uint64         // and bytes of the store
	head      *atomic.Uint64 // where it is told

	begun, filled int // bytes of the bunch that is the next record: read, and known to be written; 0: it is none
}

func newReader(ring []byte, head *atomic.Uint64) reader {
	r := reader{position: positionIn(ring), head: head}
	r.each, r.all = uint64(len(r.slots)/slotSize/tellEvery), uint64(len(r.store)/tellEvery)
	return r
}

// A record is what a reader has found. It refers to the ring, where the peer may still write. So
// header and payload must be copied before they are looked at.
type record struct {
	kind    int
	size    int // bytes in the store
	length  int
	header  []byte
	payload []byte
	loan    []byte // of kindLent: from the state on
}

// next is the word of the next record, 0 if there is none.
func (r *reader) next() uint64 {
	word := at(r.slots, r.slot).Load() ^ r.turn
	if word >= oneTurn {
		return 0
	}
	return word
}

// short returns header and payload of the record if it is a frame whole in its slot, as most are; else nil. The header is
// copied, since what is looked at must not change.
func (r *reader) short(word uint64, to *[btl.MaxHeader]byte) (header, payload []byte) {
	h, n := int(uint8(word>>32)), int(uint32(word))
	if word>>40 != kindWhole || h == 0 || h > btl.MaxHeader || uint(n) > uint(slotRoom-h) { // on 32 bits n may be less than 0
		return nil, nil
	}
	slot := r.slotHere()
	header = to[:h]
	copy(header, slot[wordSize:])
	return header, slot[wordSize+h : wordSize+h+n]
}

// whole returns header and payload of the record if it is a frame in one piece, as most are, and where
// such a record may lie, with its bytes in the store; else nil, and parse says what it is.
func (r *reader) whole(word uint64) (header, payload []byte, size int) {
	h := int(uint8(word >> 32))
	if kindOf(word) != kindWhole || h == 0 || h > btl.MaxHeader || uint32(word) > wholeLimit {
		return nil, nil, 0
	}
	slot, n := r.here(), int(uint32(word))
	if h+n <= slotRoom {
		return slot[:h], slot[h : h+n], 0
	}
	size = blocks(n)
	from, _ := r.block(size)
	if n <= atOnce {
		coherence.Fetch(unsafe.Pointer(&r.store[from]), n) // while the header is looked at
	}
	return slot[:h], r.store[from : from+n], size
}

// atOnce is the longest payload that is fetched at once. A longer one the processor fetches by itself as it is copied.
const atOnce = 8 * line

// parse says what a record is.
func (r *reader) parse(word uint64, c *record) error {
	*c = record{kind: kindOf(word), length: int(uint32(word))}
	h := int(uint8(word >> 32))
	switch hasHeader := c.kind == kindWhole || c.kind == kindBegin || c.kind == kindLent; {
	case c.kind < kindWhole || c.kind > kindLent:
		return fmt.Errorf("malformed record: unknown kind %#x", c.kind)
	case c.length < 0 || (c.kind == kindWhole || c.kind == kindPiece) && c.length > len(r.store):
		return fmt.Errorf("malformed record: %d bytes where the ring has %d", uint32(word), len(r.store))
	case hasHeader != (h > 0) || h > btl.MaxHeader:
		return fmt.Errorf("malformed frame: header of %d bytes in a record of kind %d", h, c.kind)
	case c.kind == kindGoodbye && c.length != 0, c.kind == kindBunch && c.length != bunchSize, (c.kind == kindPiece || c.kind == kindBegin || c.kind == kindLent) && c.length == 0:
		return fmt.Errorf("malformed record: %d bytes in one of kind %d", c.length, c.kind)
	}
	slot := r.here()
	switch c.kind {
	case kindWhole:
		c.size = inStore(h, c.length)
	case kindPiece, kindBunch:
		c.size = blocks(c.length)
	case kindLent:
		c.loan, slot = slot[:loanSize], slot[loanSize:]
	}
	c.header = slot[:h]
	if c.size > 0 {
		from, _ := r.block(c.size)
		c.payload = r.store[from : from+c.length]
	} else if c.kind == kindWhole {
		c.payload = slot[h : h+c.length]
	}
	return nil
}

// advance gives a record back to the writer, with its n bytes of the store, and reports whether the writer was told.
func (r *reader) advance(n int) bool {
	r.pass(n)
	if r.count-r.told < r.each && r.bytes-r.toldBytes < r.all {
		return false
	}
	r.told, r.toldBytes = r.count, r.bytes
	r.head.Store(r.count)
	return true
}
