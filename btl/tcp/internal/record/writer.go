package record

import "encoding/binary"

const (
	// MaxPlain is the most bytes of the stream in one record. Of a longer record the receiver
	// could use nothing for longer; shorter ones would be more.
	MaxPlain = 16 << 10
	// headSize and tagSize are what a record has beside those bytes.
	headSize = 4
	tagSize  = 16
	// Overhead is both.
	Overhead = headSize + tagSize
	// MaxRecord is the length of the longest record.
	MaxRecord = MaxPlain + Overhead
	// WriteBuffer is the length of a [Writer]'s buffer: room for 64 KB of the stream in records,
	// and for a short record before them.
	WriteBuffer = 4*MaxRecord + 4<<10

	// direct is the length from which on a piece is encrypted from where it is. Shorter pieces
	// are copied behind each other first, since a record costs as much as copying some
	// kilobytes. For the same reason no record is begun where only a shorter one fits.
	direct = 2 << 10
)

// A Writer makes records of the pieces of a stream, in a buffer that is lent to it.
type Writer struct {
	keys     *keys
	buf      []byte
	lo, hi   int // the records that wait to be sent: buf[lo:hi]
	gathered int // bytes of the next record, at their place in buf
}

// NewWriter makes the writer of one direction. It takes over the secret, and overwrites it when
// the keys are renewed. Renewal is the number of records under one key, mostly [Renewal]; both
// sides must give the same.
func NewWriter(secret []byte, renewal uint64) (*Writer, error) {
	k, err := newKeys(secret, renewal)
	return &Writer{keys: k}, err
}

// Lend gives the writer, which has none, its buffer, of WriteBuffer bytes.
func (w *Writer) Lend(b []byte) { w.buf, w.lo, w.hi, w.gathered = b, 0, 0, 0 }

// Lent reports whether it has one.
func (w *Writer) Lent() bool { return w.buf != nil }

// Return gives the buffer back, or nil. What waited is forgotten.
func (w *Writer) Return() []byte {
	b := w.buf
	w.Lend(nil)
	return b
}

// Add takes as much of p as there is room for, and returns how many bytes that is. P is not needed
// after the call. Call Finish once all pieces are added, before Waiting is sent.
func (w *Writer) Add(p []byte) (n int, err error) {
	for err == nil && n < len(p) {
		rest := p[n:]
		if w.gathered > 0 && (len(rest) >= direct || w.room() == 0) {
			err = w.Finish()
			continue
		}
		k := min(w.room(), len(rest))
		switch {
		case k == 0:
			return n, nil
		case len(rest) >= direct:
			err = w.seal(rest[:k])
		default:
			at := w.hi + headSize + w.gathered
			copy(w.buf[at:at+k], rest)
			w.gathered += k
		}
		n += k
	}
	return n, err
}

// Full reports whether no record can be begun.
func (w *Writer) Full() bool { return w.Lent() && w.gathered == 0 && w.room() == 0 }

// room is how many more bytes the next record can have.
func (w *Writer) room() int {
	space := min(MaxPlain, len(w.buf)-w.hi-Overhead)
	if space < direct {
		return 0
	}
	return space - w.gathered
}

// Finish makes a record of what was gathered.
func (w *Writer) Finish() error {
	if w.gathered == 0 {
		return nil
	}
	at := w.hi + headSize
	n := w.gathered
	w.gathered = 0
	return w.seal(w.buf[at : at+n])
}

// seal makes a record of plain. Plain is either outside of the buffer or at its place in the record.
func (w *Writer) seal(plain []byte) error {
	nonce, err := w.keys.next()
	if err != nil {
		return err
	}
	head := w.buf[w.hi : w.hi+headSize]
	binary.LittleEndian.PutUint32(head, uint32(len(plain)))
	end := w.hi + headSize
	w.keys.aead.Seal(w.buf[end:end], nonce, plain, head)
	w.hi = end + len(plain) + tagSize
	return nil
}

// Waiting is the records that wait to be sent.
func (w *Writer) Waiting() []byte { return w.buf[w.lo:w.hi] }

// Sent takes note that the first n bytes of Waiting were sent.
func (w *Writer) Sent(n int) {
	if w.lo += n; w.lo == w.hi {
		w.lo, w.hi = 0, 0
	}
}

// Clear appends bytes that go out as they are, in no record: the end of what came before the stream.
func (w *Writer) Clear(b []byte) { w.hi += copy(w.buf[w.hi:], b) }

// Last returns what waits, followed by the records of p, which is the rest of the stream. The
// result is in memory of its own.
func (w *Writer) Last(p []byte) ([]byte, error) {
	waiting, lent := w.Waiting(), w.buf
	records := (len(p) + MaxPlain - 1) / MaxPlain
	own := make([]byte, len(waiting)+len(p)+records*Overhead+direct)
	w.buf, w.lo, w.hi = own, 0, copy(own, waiting)
	_, err := w.Add(p)
	if err == nil {
		err = w.Finish()
	}
	own = own[:w.hi]
	w.Lend(lent)
	return own, err
}
