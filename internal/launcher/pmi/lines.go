package pmi

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// ErrLineTooLong: the other side sent more than [MaxLine] bytes and no newline.
var ErrLineTooLong = fmt.Errorf("pmi: a line longer than %d bytes", MaxLine)

// A lineReader cuts a stream into lines. A failed read (a deadline) loses
// nothing: the next call goes on where it stopped, in the middle of a line too.
type lineReader struct {
	from io.Reader
	buf  []byte // what was read and not returned yet
	next int    // how much of buf has been returned
}

// line returns the next line without its newline, and io.ErrUnexpectedEOF if
// the stream ends inside one.
func (r *lineReader) line() (string, error) {
	searched := r.next
	for {
		if end := bytes.IndexByte(r.buf[searched:], '\n'); end >= 0 {
			line := r.buf[r.next : searched+end]
			r.next = searched + end + 1
			if len(line) >= MaxLine {
				return "", ErrLineTooLong
			}
			return string(line), nil
		}
		if len(r.buf)-r.next >= MaxLine {
			return "", ErrLineTooLong
		}
		r.compact()
		searched = len(r.buf)
		if err := r.fill(); err != nil {
			if errors.Is(err, io.EOF) && len(r.buf) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return "", err
		}
	}
}

// compact drops what has been returned.
func (r *lineReader) compact() {
	r.buf = r.buf[:copy(r.buf, r.buf[r.next:])]
	r.next = 0
}

func (r *lineReader) fill() error {
	if cap(r.buf) == len(r.buf) {
		// Grown by need: most lines are short, and a launcher has one
		// reader for each rank.
		grown := make([]byte, len(r.buf), max(512, 2*cap(r.buf)))
		copy(grown, r.buf)
		r.buf = grown
	}
	n, err := r.from.Read(r.buf[len(r.buf):cap(r.buf)])
	r.buf = r.buf[:len(r.buf)+n]
	if n > 0 {
		return nil // an error comes again with the next read
	}
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}
