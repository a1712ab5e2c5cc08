package sm

import (
	"unsafe"

	"github.com/strandmp/strand/internal/coherence"
)

const (
	// slotsAhead is how far before its records the writer fetches the slots that it will write, beside the next block of the store. The
	// reader has them from the time when it read them last. To write one without having fetched it
	// takes as long as the rest of a short message.
	slotsAhead = 4
	// mostAhead is the longest block for which it does. The lines of a longer one are not fetched at all, but written as a whole.
	mostAhead = coherence.Least
)

// lookAhead fetches of a slot and of the store as many bytes as the last record has there, as far as they are the writer's and lie in a row.
func (w *writer) lookAhead(used, n int) {
	if w.count+slotsAhead-w.seen < uint64(len(w.ends)) {
		coherence.FetchToWrite(unsafe.Pointer(&w.slots[w.after(slotsAhead)]), used)
	}
	if n > 0 && n <= mostAhead && w.from+n <= len(w.store) && w.bytes+uint64(n)-w.freed <= uint64(len(w.store)) {
		coherence.FetchToWrite(unsafe.Pointer(&w.store[w.from]), n)
	}
}

// lookToAnswer fetches what an answer would be written to that is as long as the record of that word, which has just come: while the program looks at
// that record, and not when it answers. The reader of the answer has the lines: it looks there all the time.
func (w *writer) lookToAnswer(word uint64) {
	h, size := int(uint8(word>>32)), int(uint32(word))
	if kindOf(word) != kindWhole || uint(size) > mostAhead {
		return
	}
	used, n := wordSize+h, inStore(h, size)
	if n == 0 {
		used += size
	}
	coherence.FetchToWrite(unsafe.Pointer(w.slotHere()), min(used, slotSize))
	if n > 0 {
		from, _ := w.block(n)
		coherence.FetchToWrite(unsafe.Pointer(&w.store[from]), size)
	}
}
