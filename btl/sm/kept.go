package sm

import "github.com/strandmp/strand/btl"

// inSlot is the bit of what payloadOf returns that says that the payload lies in a slot, behind a header of as many bytes as
// there are in bits 48 to 55; the lower bits are the record's number. Else they are where it lies in the store, and where its record's
// blocks begin, in blocks, among all bytes that records had.
const (
	inSlot    = 1 << 63
	storeBits = 26 // for maxRing
	mostBegun = 1<<(63-storeBits) - 1
)

// payloadOf is where the payload of the frame lies that was the last one written, in one piece.
func (w *writer) payloadOf(f *btl.Frame) uint64 {
	h := len(f.Header)
	if w.bunch != nil {
		return w.placeOf(bunchSize, w.filled-words(wordSize+h+f.Size)+wordSize+h)
	}
	if inStore(h, f.Size) == 0 {
		return inSlot | uint64(h)<<48 | (w.count-1)&(1<<48-1)
	}
	return w.placeOf(blocks(f.Size), 0)
}

// placeOf is the place of what lies that far behind the beginning of the last record's n bytes of the store.
func (w *writer) placeOf(n, behind int) uint64 {
	return (w.bytes-uint64(n))/block&mostBegun<<storeBits | uint64(w.from-n+behind)
}

// again copies what was written, unless that may have been overwritten since. It is not before the peer has read it.
func (w *writer) again(payload uint64, b []byte) bool {
	if payload&inSlot == 0 {
		since := (w.bytes/block - payload>>storeBits) & mostBegun * block // the record began
		if since > uint64(len(w.store)) || int64(w.bytes-since-w.intact) < 0 {
			return false
		}
		copy(b, w.store[payload&(1<<storeBits-1):])
		return true
	}
	before := (w.count - payload) & (1<<48 - 1) // records ago
	if before > uint64(len(w.ends)) {
		return false
	}
	copy(b, w.slots[w.after(-int(before))+wordSize+int(payload>>48&(1<<8-1)):])
	return true
}
