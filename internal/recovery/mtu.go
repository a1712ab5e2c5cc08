package recovery

import "time"

// MTU finds the longest packet that a path carries, by packets of no other use: RFC 8899. Sizes are of
// what the transport hands to its socket.
type MTU struct {
	least, base int   // that there is no path without, and that every path should carry
	size        int   // that gets through, for all that is known
	top, most   int   // the longest that is worth a try now, and ever
	asked       int   // of the packet that is under way; 0: none
	losses      int   // of that size, in a row
	rests       int64 // until then nothing is tried
}

const (
	// soundings is how many packets of one size have to be lost until that size is too long
	// (RFC 8899, MAX_PROBES).
	soundings = 3
	// soundAgain is how long a result is taken for good (PMTU_RAISE_TIMER).
	soundAgain = int64(10 * time.Minute)
	// soundSoon is that where it is less than every path should carry: something is wrong, and may not be for long.
	soundSoon = int64(10 * time.Second)
	// MissedAtMost is how many packets longer than the least may be lost in a row, and nothing of that length arrive
	// ([Path.Missed]), until they are taken to be too long.
	MissedAtMost = 6
	// near is how close to the longest is close enough.
	near = 16
)

// NewMTU returns a search from a size that every path should carry up to that of the interface. Where that size does not get through either packets
// are of the least (RFC 8899, MIN_PLPMTU).
func NewMTU(least, base, most int) MTU {
	base = max(least, base)
	most = max(base, most)
	return MTU{least: least, base: base, size: base, top: most, most: most}
}

// Trust takes the longest for given: the path stays within a host, say. If it turns out not to be so, the search
// goes on from the base ([MTU.Shrunk]).
func (m *MTU) Trust() { m.size = m.most }

// Size is how long packets may be.
func (m *MTU) Size() int { return m.size }

// Sound returns the size of the packet that is to be sent to find out more; 0: none. The caller sends it, since it is not
// asked for again before its fate is known: with the kind [Sounding], and what became of it is told by [MTU.Passed], [MTU.Lost] or [MTU.Untaken]. The interface's own size
// comes first: it is right nearly always.
func (m *MTU) Sound(now int64) int {
	if m.asked != 0 || now < m.rests {
		return 0
	}
	if m.rests != 0 {
		m.rests, m.top = 0, m.most
	}
	switch {
	case m.size == m.most:
		return 0
	case m.top == m.most:
		m.asked = m.most
	case m.top-m.size < near && m.size < m.base:
		m.rests = now + soundSoon
	case m.top-m.size < near:
		m.rests = now + soundAgain
	default:
		m.asked = (m.size + m.top) / 2
	}
	return m.asked
}

// Passed notes that the packet has arrived. It reports whether packets may be longer now.
func (m *MTU) Passed(size int) (longer bool) {
	if size == m.asked {
		m.asked, m.losses = 0, 0
	}
	if size <= m.size || size > m.most {
		return false
	}
	m.size = size
	return true
}

// Lost notes that the packet was lost.
func (m *MTU) Lost(size int) {
	if size != m.asked {
		return
	}
	m.asked = 0
	if m.losses++; m.losses >= soundings {
		m.losses, m.top = 0, size-1
	}
}

// Untaken notes that the packet was not sent, for want of room: it is asked for again.
func (m *MTU) Untaken(size int) {
	if size == m.asked {
		m.asked = 0
	}
}

// Refused notes that the system does not take packets of that size.
func (m *MTU) Refused(size int) {
	if size == m.asked {
		m.asked, m.losses, m.top = 0, 0, size-1
	}
}

// Shrunk notes that packets of the present size do not get through any more: the system says so, or all
// that were sent for some time are lost. It reports whether packets are to be shorter now. Those of the least size come after a path on which nothing at all
// gets through, for the most part: when that is over the longest may get through again.
func (m *MTU) Shrunk() (shorter bool) {
	switch {
	case m.size > m.base:
		m.size, m.top = m.base, m.size-1
	case m.size > m.least:
		m.size, m.top = m.least, m.most
	default:
		return false
	}
	m.asked, m.losses, m.rests = 0, 0, 0
	return true
}

// A blackHole counts packets that may be lost for their length. Those are not that were sent before another one, as long at least, that
// has arrived. That a shorter one arrives says nothing.
type blackHole struct {
	from    uint64 // what was sent before does not count
	missed  int    // packets that are lost,
	longest int    // and the length of the longest of them
	carried [4]carried
	count   int // of carried: the latest last, each shorter than those before
}

// carried is a packet that has arrived, and since which no longer one has.
type carried struct {
	number uint64
	size   int
}

// carries notes that a packet has arrived.
func (h *blackHole) carries(n uint64, size int) {
	if n < h.from {
		return
	}
	if size >= h.longest {
		h.missed, h.longest = 0, 0
	}
	for h.count > 0 && h.carried[h.count-1].number < n && h.carried[h.count-1].size <= size {
		h.count--
	}
	if h.count > 0 && h.carried[h.count-1].number > n {
		return // it was overtaken
	}
	h.count = min(h.count, len(h.carried)-1)
	h.carried[h.count] = carried{n, size}
	h.count++
}

// loses notes that one is lost.
func (h *blackHole) loses(n uint64, size int) {
	if n < h.from {
		return
	}
	for _, c := range h.carried[:h.count] {
		if c.number > n && c.size >= size {
			return
		}
	}
	h.missed++
	h.longest = max(h.longest, size)
}
