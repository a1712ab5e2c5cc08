package recovery

import "time"

// Arrivals is the receiver's side of a path: which numbers have arrived, and when to say so. The
// zero value is a path on which nothing has.
type Arrivals struct {
	ranges  [maxRanges]Range // ascending
	count   int
	floor   uint64 // what is below and comes now is not taken
	newest  int64  // when the highest number arrived
	pending int    // packets that are not acknowledged yet,
	since   int64  // and when the first of them arrived
	at      bool   // they are to be acknowledged at once
}

const (
	// maxRanges bounds what is remembered, and told. When there are more holes, the oldest range is
	// forgotten, and what comes later for it, or below, is not taken.
	maxRanges = 32
	// every is how many packets one acknowledgement is sent for.
	every = 2
)

// Add notes that a packet has arrived. It reports whether it is to be taken: it is news.
func (a *Arrivals) Add(now int64, n uint64) (fresh bool) {
	if a.pending++; a.pending == 1 {
		a.since = now
	}
	i := a.count // the first range that begins above n
	for i > 0 && n < a.ranges[i-1].First {
		i--
	}
	if n < a.floor || i > 0 && n <= a.ranges[i-1].Last || !a.insert(i, n) {
		a.at = true // the sender has missed that it arrived
		return false
	}
	last := a.ranges[a.count-1]
	if last.Last == n {
		a.newest = now
	}
	// At once where a hole has come to be, or has been filled.
	a.at = a.at || a.pending >= every || last.Last != n || last.First == n && a.count > 1
	return true
}

// Has reports whether a packet is not to be taken: it has arrived, or is too old.
func (a *Arrivals) Has(n uint64) bool {
	i := a.count
	for i > 0 && n < a.ranges[i-1].First {
		i--
	}
	return n < a.floor || i > 0 && n <= a.ranges[i-1].Last || i == 0 && a.count == maxRanges && n+1 < a.ranges[0].First
}

// insert puts a number in before the range at i, and joins what is adjacent then. It reports
// whether there was room.
func (a *Arrivals) insert(i int, n uint64) bool {
	before := i > 0 && a.ranges[i-1].Last+1 == n
	after := i < a.count && a.ranges[i].First == n+1
	switch {
	case before && after:
		a.ranges[i-1].Last = a.ranges[i].Last
		a.remove(i)
	case before:
		a.ranges[i-1].Last = n
	case after:
		a.ranges[i].First = n
	case a.count == maxRanges && i == 0:
		return false
	default:
		if a.count == maxRanges {
			a.floor = a.ranges[0].Last + 1
			a.remove(0)
			i--
		}
		copy(a.ranges[i+1:], a.ranges[i:a.count])
		a.ranges[i] = Range{n, n}
		a.count++
	}
	return true
}

func (a *Arrivals) remove(i int) {
	copy(a.ranges[i:], a.ranges[i+1:a.count])
	a.count--
}

// Forget notes that the sender asks about nothing below a number any more.
func (a *Arrivals) Forget(below uint64) {
	for a.count > 0 && a.ranges[0].Last < below {
		a.remove(0)
	}
	if a.count > 0 && a.ranges[0].First < below {
		a.ranges[0].First = below
	}
	a.floor = max(a.floor, below)
}

// Due is when to acknowledge what has arrived; 0: there is nothing to acknowledge. A packet that came
// in order is held back for so long, since a second one is answered with it.
func (a *Arrivals) Due(held time.Duration) int64 {
	switch {
	case a.pending == 0:
		return 0
	case a.at:
		return a.since
	}
	return a.since + int64(held)
}

// Ranges appends the newest ranges to out, at most so many, the newest first, and says for how long the
// newest was held back. The caller sends them: they count as told.
func (a *Arrivals) Ranges(now int64, out []Range, most int) (ranges []Range, held time.Duration) {
	for i := a.count - 1; i >= 0 && i >= a.count-most; i-- {
		out = append(out, a.ranges[i])
	}
	a.pending, a.at = 0, false
	return out, time.Duration(now - a.newest)
}

// Untold notes that what Ranges has told last was not sent after all.
func (a *Arrivals) Untold(now int64) {
	if a.pending == 0 {
		a.pending, a.since = 1, now
	}
	a.at = true
}
