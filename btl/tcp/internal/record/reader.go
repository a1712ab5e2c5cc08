package record

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// ReadBuffer is the length of a [Reader]'s buffer, some records.
const ReadBuffer = 4*MaxRecord + 8<<10

// ErrDamaged is in the error of a record that is not the one that was sent.
var ErrDamaged = errors.New("damaged or forged")

// A Reader takes records apart, in a buffer that is lent to it.
type Reader struct {
	keys   *keys
	buf    []byte
	lo, hi int // what has come and was not opened: buf[lo:hi]
	opened uint64
	err    error
}

// NewReader makes the reader of one direction, as [NewWriter] does its writer.
func NewReader(secret []byte, renewal uint64) (*Reader, error) {
	k, err := newKeys(secret, renewal)
	return &Reader{keys: k}, err
}

// Lend gives the reader, which has none, its buffer, of ReadBuffer bytes.
func (r *Reader) Lend(b []byte) { r.buf, r.lo, r.hi = b, 0, 0 }

// Lent reports whether it has one.
func (r *Reader) Lent() bool { return r.buf != nil }

// Empty reports whether nothing is in the buffer.
func (r *Reader) Empty() bool { return r.lo == r.hi }

// Return gives the buffer back, or nil. What was in it is forgotten.
func (r *Reader) Return() []byte {
	b := r.buf
	r.Lend(nil)
	return b
}

// Room is where the next bytes of the connection go. It has room for at least one byte if Next
// has found no whole record.
func (r *Reader) Room() []byte {
	if len(r.buf)-r.hi < MaxRecord {
		r.lo, r.hi = 0, copy(r.buf, r.buf[r.lo:r.hi])
	}
	return r.buf[r.hi:]
}

// Took takes note that n bytes have come into Room.
func (r *Reader) Took(n int) { r.hi += n }

// Next opens the next record and returns its bytes of the stream, nil if the record has not come
// whole. They are in the buffer, and valid until the next call of Room or Return. An error is final.
func (r *Reader) Next() ([]byte, error) {
	if r.err != nil {
		return nil, r.err
	}
	in := r.buf[r.lo:r.hi]
	if len(in) < headSize {
		return nil, nil
	}
	size := int(binary.LittleEndian.Uint32(in))
	if size < 1 || size > MaxPlain {
		return nil, r.fail(fmt.Errorf("%w: it has %d bytes, allowed are 1 to %d", ErrDamaged, uint32(size), MaxPlain))
	}
	if len(in) < size+Overhead {
		return nil, nil
	}
	nonce, err := r.keys.next()
	if err != nil {
		r.err = err
		return nil, err
	}
	body := in[headSize : size+Overhead]
	if _, err := r.keys.aead.Open(body[:0], nonce, body, in[:headSize]); err != nil {
		return nil, r.fail(fmt.Errorf("%w: its tag proves other bytes", ErrDamaged))
	}
	r.opened++
	r.lo += size + Overhead
	return body[:size], nil
}

func (r *Reader) fail(err error) error {
	r.err = fmt.Errorf("record %d of the connection is %w", r.opened+1, err)
	return r.err
}
