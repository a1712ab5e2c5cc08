package transfer

import (
	"math/bits"
	"time"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Receiving is how data is acknowledged.
type Receiving struct {
	// Every is how many packets one acknowledgement is sent for; 0: 2.
	Every int
	// Held is for how long an acknowledgement is held back at most; 0: 200 ms (RFC 9260, section 6.2).
	Held time.Duration
}

// A Receiver knows which TSNs have arrived.
type Receiver struct {
	config     Receiving
	cumulative uint32   // all up to here have
	highest    uint32   // that has
	seen       []uint64 // those between, by their remainders
	duplicates []uint32 // to be told
	gaps       []chunk.Gap
	pending    int   // packets that are not acknowledged,
	since      int64 // since when
	now        bool  // they are to be at once
	path       int   // of the latest packet
	mixed      int   // packets for which data is taken to come by several paths
	Received
}

// Received counts what has come.
type Received struct {
	Chunks, Duplicates, Far uint64
}

const (
	everySecond = 2
	heldBack    = 200 * time.Millisecond
	// mostAhead is how far a TSN can be beyond the cumulative one. Gaps have 16 bits.
	mostAhead = 1 << 15
	// mostDuplicates are told at once.
	mostDuplicates = 32
	// mixedFor is for how many packets it is remembered that two have come by different paths.
	mixedFor  = 32
	leastSeen = 16 // words
)

// A Verdict says what to do with a TSN.
type Verdict uint8

const (
	// Fresh is to be taken.
	Fresh Verdict = iota
	// Duplicate has arrived before: the peer is told so.
	Duplicate
	// Far is beyond what is remembered, and has to come again.
	Far
)

// NewReceiver returns one to which nothing has come. First is the first TSN to come.
func NewReceiver(first uint32, c Receiving) *Receiver {
	if c.Every == 0 {
		c.Every = everySecond
	}
	if c.Held == 0 {
		c.Held = heldBack
	}
	return &Receiver{config: c, cumulative: first - 1, highest: first - 1}
}

// Cumulative is the last TSN up to which all have arrived.
func (r *Receiver) Cumulative() uint32 { return r.cumulative }

// Next reports whether all TSNs below this one have arrived.
func (r *Receiver) Next(tsn uint32) bool { return tsn == r.cumulative+1 }

// Check says whether a TSN is to be taken. It is not noted yet: see [Receiver.Add].
func (r *Receiver) Check(tsn uint32) Verdict {
	ahead := int32(tsn - r.cumulative)
	switch {
	case ahead >= mostAhead:
		r.Far++
		return Far
	case ahead > 0 && (int32(tsn-r.highest) > 0 || !r.has(tsn)):
		return Fresh
	}
	r.Duplicates++
	r.now = true // the peer has missed that it arrived
	if len(r.duplicates) < mostDuplicates {
		r.duplicates = append(r.duplicates, tsn)
	}
	return Duplicate
}

// Add notes that a TSN has arrived that is Fresh, and was taken.
func (r *Receiver) Add(tsn uint32) {
	r.Chunks++
	if tsn != r.highest+1 && r.mixed == 0 {
		r.now = true // a hole has come to be, or is filled
	}
	if tsn != r.cumulative+1 {
		r.note(tsn)
		return
	}
	r.cumulative++
	if r.highest == tsn-1 {
		r.highest = tsn
		return
	}
	for r.highest != r.cumulative && r.has(r.cumulative+1) {
		r.cumulative++
		*r.word(r.cumulative) &^= 1 << (r.cumulative % 64)
	}
}

// note remembers a TSN that is beyond the cumulative one.
func (r *Receiver) note(tsn uint32) {
	for tsn-r.cumulative >= uint32(64*len(r.seen)) {
		r.extend()
	}
	*r.word(tsn) |= 1 << (tsn % 64)
	if int32(tsn-r.highest) > 0 {
		r.highest = tsn
	}
}

func (r *Receiver) extend() {
	old := *r
	r.seen = make([]uint64, max(leastSeen, 2*len(old.seen)))
	for n := r.cumulative; n != r.highest; {
		if n++; old.has(n) {
			*r.word(n) |= 1 << (n % 64)
		}
	}
}

func (r *Receiver) word(tsn uint32) *uint64 { return &r.seen[tsn/64%uint32(len(r.seen))] }

// has reports whether a TSN has arrived that is between the cumulative and the highest one.
func (r *Receiver) has(tsn uint32) bool { return len(r.seen) > 0 && *r.word(tsn)>>(tsn%64)&1 == 1 }

// Packet notes that all chunks of a packet have been looked at, of which some were data. Path is where it
// came from, by any number. Immediate says that one of them asks for an answer at once (RFC 9260, section
// 3.3.1, the I bit).
func (r *Receiver) Packet(now int64, path int, immediate bool) {
	if r.pending++; r.pending == 1 {
		r.since = now
	}
	switch {
	case path != r.path:
		r.path, r.mixed = path, mixedFor
	case r.mixed > 0:
		r.mixed--
	}
	// Each packet is answered while something is missing, since that is what others count. With several
	// paths something always is.
	r.now = r.now || immediate || r.pending >= r.config.Every || r.highest != r.cumulative && r.mixed == 0
}

// Repeat has the last acknowledgement sent once more, at once: it may have been lost.
func (r *Receiver) Repeat(now int64) {
	if r.pending == 0 {
		r.pending, r.since = 1, now
	}
	r.now = true
}

// Due is when to acknowledge what has arrived; 0: there is nothing to acknowledge.
func (r *Receiver) Due() int64 {
	switch {
	case r.pending == 0:
		return 0
	case r.now:
		return r.since
	}
	return r.since + int64(r.config.Held)
}

// AppendSACK appends an acknowledgement of at most so many bytes, with the bytes that there is room for. The
// caller sends it: what it says counts as told.
func (r *Receiver) AppendSACK(b []byte, room, window int) []byte {
	items := max((room-chunk.SACKHeader)/chunk.SACKItem, 0)
	r.gaps = r.gaps[:0]
	for n := r.scan(1, true); len(r.gaps) < items && n <= r.highest-r.cumulative; {
		end := r.scan(n, false)
		r.gaps = append(r.gaps, chunk.Gap{First: uint16(n), Last: uint16(end - 1)})
		n = r.scan(end, true)
	}
	told := r.duplicates[:min(len(r.duplicates), items-len(r.gaps))]
	b = chunk.AppendSACK(b, r.cumulative, uint32(max(window, 0)), r.gaps, told)
	r.pending, r.now, r.duplicates = 0, false, r.duplicates[:0]
	return b
}

// scan returns the first distance from the cumulative TSN, not below one, whose TSN has arrived, or has not;
// a greater one than the highest's if there is none.
func (r *Receiver) scan(from uint32, arrived bool) uint32 {
	end := r.highest - r.cumulative
	for from <= end {
		tsn := r.cumulative + from
		w := *r.word(tsn)
		if !arrived {
			w = ^w
		}
		if w >>= tsn % 64; w != 0 {
			return min(from+uint32(bits.TrailingZeros64(w)), end+1)
		}
		from += 64 - tsn%64
	}
	return end + 1
}
