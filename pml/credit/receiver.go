package credit

import "fmt"

// A Pool is how many units a process may still promise to its peers, beyond what each
// of them gets at first.
type Pool uint64

// A Receiver is what we let a peer send unasked. The zero value lets it send nothing.
type Receiver struct {
	size       uint32 // what it may have outstanding at one time
	granted    uint32
	used       uint32
	advertised uint32 // granted, as the peer was told last
}

// Open makes the first grant, the one that our hello states. Where there is one
// already it stays.
func (r *Receiver) Open(first uint32) {
	if r.size == 0 {
		r.size, r.granted, r.advertised = first, first, first
	}
}

// Granted is the number that goes into each header.
func (r *Receiver) Granted() uint32 { return r.granted }

// soon is how many units are granted anew until a peer is told that has been promised more than [Ample]: 512 KB. Its way is a long one, and
// what it may send has to last until that is there.
const soon = 512 << 10 / Unit

// Telling is how many units are granted anew until the peer should be told.
func (r *Receiver) Telling() uint32 {
	if r.size > Ample {
		return soon
	}
	return r.size/2 + 1
}

// Told notes that a header with the number has left.
func (r *Receiver) Told() { r.advertised = r.granted }

// Left is how many units the peer may still spend.
func (r *Receiver) Left() uint32 {
	if left := int32(r.granted - r.used); left > 0 {
		return uint32(left)
	}
	return 0
}

// Take charges units that the caller knows to be left.
func (r *Receiver) Take(units uint32) { r.used += units }

// Charge takes the price of a message that has arrived. A peer that sends more than
// it was granted breaks the protocol.
func (r *Receiver) Charge(units uint32) error {
	if r.Left() < units {
		return fmt.Errorf("message of %d credit units, but only %d are left", units, r.Left())
	}
	r.Take(units)
	return nil
}

// Refund grants anew what a message no longer takes, and reports whether the peer
// should be told soon: before it has spent what it knows of.
func (r *Receiver) Refund(units uint32) (tell bool) {
	r.granted += units
	return r.granted-r.advertised >= r.Telling()
}

// Ample is beyond what a peer's grant grows by no more than a quarter of what the process has left, since others may need it.
const Ample = 4 << 20 / Unit

// Grow promises more to a peer that had to hold back, out of what the process has
// left, up to limit; and reports whether it did.
func (r *Receiver) Grow(limit uint32, pool *Pool) bool {
	more, left := min(max(r.size, 1024), limit-min(limit, r.size)), *pool
	if r.size >= Ample {
		left /= 4
	}
	more = uint32(min(Pool(more), left))
	if more == 0 {
		return false
	}
	*pool -= Pool(more)
	r.size += more
	r.granted += more
	return true
}

// Expire notes that the peer will send nothing more. What was promised to it beyond
// the first grant goes back to the pool, but for what its messages still take.
func (r *Receiver) Expire(first uint32, pool *Pool) {
	size := min(r.size, max(first, r.Outstanding()))
	*pool += Pool(r.size - size)
	r.granted -= r.size - size
	r.size = size
}

// Outstanding is what of the promises is taken by messages that are here.
func (r *Receiver) Outstanding() uint32 { return r.size - (r.granted - r.used) }

// Promised is what the peer may have outstanding at one time.
func (r *Receiver) Promised() uint32 { return r.size }
