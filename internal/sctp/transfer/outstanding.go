package transfer

import "github.com/strandmp/strand/internal/sctp/stream"

// outstanding is the chunks that were sent and not confirmed: a ring by their numbers. A number is a TSN that
// does not wrap around.
//
//	confirmed │ under way, lost, or arrived beyond a hole │ not sent
//	──────────┼───────────────────────────────────────────┼──────────
//	         base                                        next
//
// What stands below base is kept until its place is needed: the receiver may still say that it came twice.
type outstanding struct {
	ring       []sent // its length is a power of two
	base, next uint64
	bytes      int // of payload, that are not acknowledged
	lost       numbers
	lostBytes  int
	fates      [fates]int // how many chunks have one of the rarer fates
}

// A sent chunk.
type sent struct {
	fragment       stream.Fragment // without a message: it is confirmed
	packet, before int64           // the latest packet that it was in, and the one before
	at             int64           // when that was sent
	way, wayBefore uint8           // and where
	sends          uint8
	fate           fate
	queued         bool // among the lost ones
	several        bool // it was sent over several paths: nobody knows which has brought it
}

type fate uint8

const (
	underWay fate = iota
	arrived
	lost
	left      // its packet has arrived, and it was not taken
	withdrawn // it had arrived, and the receiver has dropped it
	paused    // it is lost, as it was before, and is not to be sent again yet ([recovery.Path.Pause])
	fates
)

const (
	leastSent = 64
	mostSent  = mostAhead - 1 // the first of them is one ahead
)

func (o *outstanding) at(n uint64) *sent { return &o.ring[n&uint64(len(o.ring)-1)] }

// known returns what is known of a number, be it confirmed; nil: nothing.
func (o *outstanding) known(n uint64) *sent {
	if n >= o.next || n+uint64(len(o.ring)) < o.next {
		return nil
	}
	return o.at(n)
}

// number is that of a TSN, the one that is nearest to the cumulative one.
func (o *outstanding) number(tsn uint32) uint64 {
	before := o.base - 1
	return before + uint64(int64(int32(tsn-uint32(before))))
}

func (o *outstanding) full() bool { return o.next-o.base >= mostSent }

// add gives a fragment its number.
func (o *outstanding) add(f stream.Fragment) uint64 {
	if o.next-o.base == uint64(len(o.ring)) {
		o.extend()
	}
	n := o.next
	c := o.at(n)
	*c = sent{}
	c.fragment = f
	o.next++
	o.bytes += int(f.Length)
	return n
}

func (o *outstanding) extend() {
	old := *o
	o.ring = make([]sent, max(leastSent, 2*len(old.ring)))
	for n := o.base; n < o.next; n++ {
		*o.at(n) = *old.at(n)
	}
}

// become changes the fate of a chunk.
func (o *outstanding) become(n uint64, to fate) {
	c := o.at(n)
	length := int(c.fragment.Length)
	o.fates[c.fate]--
	o.fates[to]++
	if c.fate == lost {
		o.lostBytes -= length
	}
	switch {
	case to == arrived:
		o.bytes -= length
	case c.fate == arrived:
		o.bytes += length
	}
	c.fate = to
	if to != lost {
		return
	}
	if o.lostBytes += length; !c.queued {
		c.queued = true
		o.lost.push(n)
	}
}

// firstLost is the chunk that is to be sent again first: the one for which all others wait, or else the one
// that has waited for longest.
func (o *outstanding) firstLost() (n uint64, ok bool) {
	if o.lostBytes == 0 {
		return 0, false
	}
	if o.base < o.next && o.at(o.base).fate == lost {
		return o.base, true
	}
	for o.lost.head < len(o.lost.list) {
		n := o.lost.list[o.lost.head]
		if n >= o.base {
			c := o.at(n)
			if c.fate == lost {
				return n, true
			}
			c.queued = false
		}
		o.lost.pop()
	}
	return 0, false
}

// numbers are first in, first out.
type numbers struct {
	list []uint64
	head int
}

func (q *numbers) push(n uint64) {
	if q.head > len(q.list)/2 {
		q.list = q.list[:copy(q.list, q.list[q.head:])]
		q.head = 0
	}
	q.list = append(q.list, n)
}

func (q *numbers) pop() { q.head++ }
