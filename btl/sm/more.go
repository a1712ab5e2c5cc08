package sm

import "errors"

// At first a ring uses a part of its store, again and again. It uses twice as much after some laps, or as soon as there is no room at the front. For pages that were
// never used cost more than what is copied there, on a virtual machine as much as forty times, and many programs send little over most of their
// connections. Once all of it is used the lines to write next are those that the reader mostly has no longer.
const (
	// firstStore is the store of the smallest ring.
	firstStore = minRing - minRing/slotShare
	// moreAfter is after how many laps more is used, though there is room.
	moreAfter = 16
)

var errMore = errors.New("malformed ring: more of it is to be used than there is")

// canUseMore reports whether some of the store is not used yet.
func (p *position) canUseMore() bool { return len(p.store) < len(p.all) }

// widen has twice as much of the store be used. What belongs to the next record begins behind what was used before, so what is unread there stays.
func (p *position) widen() {
	used := len(p.store)
	p.store = p.all[:2*used]
	populate(p.store[used:])
	p.bytes += uint64(used - p.from)
	p.from = used
}

// ended is called where the next record does not fit before the end of what is used, so that it would begin at the front.
func (w *writer) ended() {
	if w.laps++; w.laps >= moreAfter {
		w.useMore()
	}
}

// useMore says that more is used from here on. It reports false if there is no more, or no slot to say so.
func (w *writer) useMore() bool {
	if !w.canUseMore() || w.count-w.seen >= uint64(len(w.ends)) {
		return false
	}
	w.laps = 0
	w.intact = max(w.intact, w.bytes-min(w.bytes, uint64(len(w.store))))
	w.widen()
	w.publish(wordOf(kindMore, 0, 0), line, 0)
	return true
}

// useMore follows the writer.
func (r *reader) useMore() error {
	if !r.canUseMore() {
		return errMore
	}
	r.widen()
	r.every = uint64(len(r.store) / tellEvery)
	return nil
}
