package sm

import (
	"errors"

	"github.com/strandmp/strand/btl"
)

// A bunch is a record of several short frames, for a reader that is behind. It is announced with the first of them, and takes others later,
// each behind a word as a slot has it. So such a reader does not keep the writer waiting as soon as the slots are all written. The first word
// of a bunch says how many bytes of it are written. The reader that has read as many puts an end to the bunch there, and
// the next frame is a record again. Both change that word by compare-and-swap, so no frame is missed.
const (
	// Once so many eighths of the slots are unread the others are left for bunches. With them it is not the slots of which there are too few, but
	// bytes of the store, and a bunch leaves no part of a block unused.
	bunchesFrom = 5
	// bunchSize is as much of the store as there is for bunchShare slots.
	bunchShare = 4
	bunchSize  = (slotShare - 1) * slotSize * bunchShare
	// bunchMost is the longest frame, with its word, that goes into a bunch: some of them fit.
	bunchMost = bunchSize / 4
	// ended is what the first word says when there is nothing more to come.
	ended = 0
)

var errBunch = errors.New("malformed record: frames in a bunch that do not fit there")

// words rounds up to whole words.
func words(n int) int { return (n + wordSize - 1) &^ (wordSize - 1) }

// isAhead reports whether the peer has left so many records unread that the remaining slots are for bunches.
func (w *writer) isAhead() bool {
	if w.count-w.seen < w.most {
		return false
	}
	w.look()
	return w.count-w.seen >= w.most
}

// intoBunch writes a short frame into the last record, if that is a bunch, or into a new one.
func (w *writer) intoBunch(f *btl.Frame) bool {
	n := words(wordSize + len(f.Header) + f.Size)
	if n > bunchMost {
		return false
	}
	if w.bunch != nil && n <= len(w.bunch)-w.filled {
		putFrame(w.bunch[w.filled:], f)
		if at(w.bunch, 0).CompareAndSwap(uint64(w.filled), uint64(w.filled+n)) {
			w.filled += n
			return true
		} // else the reader has put an end to it
	}
	block, ok := w.room(bunchSize)
	if !ok {
		return false
	}
	putFrame(block[wordSize:], f)
	at(block, 0).Store(uint64(wordSize + n))
	w.publish(wordOf(kindBunch, 0, bunchSize), line, bunchSize)
	w.bunch, w.filled = block, wordSize+n
	return true
}

func putFrame(to []byte, f *btl.Frame) {
	h := len(f.Header)
	at(to, 0).Store(wordOf(kindWhole, h, f.Size))
	copy(to[wordSize:], f.Header)
	copyPayload(to[wordSize+h:], f)
}

// fromBunch returns the next frame of a bunch, or no header if it has put an end to that.
func (r *reader) fromBunch(block []byte) (header, payload []byte, err error) {
	r.begun = max(r.begun, wordSize)
	if r.begun >= r.filled {
		more, err := r.lookInto(block)
		if !more {
			return nil, nil, err
		}
	}
	word := at(block, r.begun).Load()
	b := block[r.begun+wordSize : r.filled]
	h := int(uint8(word >> 32))
	if word>>40 != kindWhole || h == 0 || h > btl.MaxHeader || uint32(word) > bunchMost || h+int(uint32(word)) > len(b) {
		return nil, nil, errBunch
	}
	n := int(uint32(word))
	r.begun += words(wordSize + h + n)
	return b[:h], b[h : h+n], nil
}

// lookInto finds out how much of a bunch is written. If that is no more than was read it puts an end to it.
func (r *reader) lookInto(block []byte) (more bool, err error) {
	fill := at(block, 0)
	if fill.CompareAndSwap(uint64(r.begun), ended) {
		r.begun, r.filled = 0, 0
		return false, nil
	}
	to := fill.Load()
	if to <= uint64(r.begun) || to > uint64(len(block)) || to%wordSize != 0 {
		return false, errBunch
	}
	r.filled = int(to)
	return true, nil
}

// amid reports whether the next record is a bunch of which something was read.
func (r *reader) amid() bool { return r.begun > 0 }
