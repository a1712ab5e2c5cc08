package tcp

import (
	"fmt"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

const (
	// readAhead is how much is read before it is known what it belongs to. More
	// would have to be copied, less would cost calls in a burst of small frames.
	readAhead = 8 << 10
	// wholeLimit is up to which size a frame that is not there yet is waited for
	// and handed over whole; a longer one is landed.
	wholeLimit = copyLimit + prefixSize
	// directMin is the least room that is worth a read of its own straight into
	// a landing place; for less the bytes are read ahead and copied.
	directMin = 2 << 10
	// readBudget is how much one poll reads, so that a peer that sends without
	// end does not keep the others waiting.
	readBudget = 1 << 20
)

// A receiver is the receiving half of a connection.
type receiver struct {
	ahead    []byte // read and not yet looked at: ahead[lo:hi]; lent while there is any
	lo, hi   int
	landing  *btl.Landing // of the frame that is under way
	maxFrame int
	reading  bool // receive is at work, whose up-calls refer to ahead
	lender   *lender
}

func (r *receiver) init(maxFrame int, l *lender) { r.maxFrame, r.lender = maxFrame, l }

// rest gives the buffer back. While an up-call may refer to it, receive does that.
func (r *receiver) rest() {
	if r.ahead != nil && !r.reading {
		r.lender.back(r.ahead)
		r.ahead, r.lo, r.hi = nil, 0, 0
	}
}

// place returns where the next bytes are to be read to, and whether that is
// straight into the landing place.
func (r *receiver) place() ([]byte, bool) {
	if r.landing != nil {
		if p := r.landing.Next(); len(p) >= directMin {
			return p, true
		}
	}
	if r.ahead == nil {
		r.ahead = r.lender.small.take()
	}
	return r.ahead[r.hi:], false
}

var errNoGoodbye = fmt.Errorf("the peer's end of the connection has closed %w", wireup.ErrNoGoodbye)

// receive reads what is there and reports whether anything was.
func (ep *endpoint) receive() bool {
	r := &ep.receiver
	r.reading = true
	did := ep.read()
	r.reading = false
	if r.lo == r.hi || !ep.Live() {
		r.rest()
	}
	return did
}

func (ep *endpoint) read() bool {
	did := false
	r := &ep.receiver
	for budget := readBudget; budget > 0 && ep.Live(); {
		b, direct := r.place()
		n, errno := ep.conn.Recv(b)
		ep.counters.ReceiveCalls++
		if n <= 0 {
			return ep.nothing(errno) || did
		}
		did = true
		budget -= n
		ep.counters.BytesReceived += uint64(n)
		if direct {
			r.landing.Advance(n)
			if r.landing.Left() == 0 {
				// Whoever waits for the frame need not wait for another look.
				ep.landed()
				return true
			}
		} else {
			r.hi += n
			ep.parse()
		}
		if n < len(b) {
			return true // that was all there is
		}
	}
	return did
}

// nothing handles a read that has brought nothing.
func (ep *endpoint) nothing(errno syscall.Errno) bool {
	switch errno {
	case syscall.EAGAIN:
		return false
	case 0:
		ep.Down(ep.Error("receiving", errNoGoodbye))
	default:
		ep.Down(ep.Error("receiving", errno))
	}
	return true
}

// landed ends the frame under way.
func (ep *endpoint) landed() {
	l := ep.receiver.landing
	ep.receiver.landing = nil
	ep.counters.FramesReceived++
	if err := ep.Recv.End(l); err != nil {
		ep.Malformed(err)
	}
}

// parse hands over what has been read ahead.
func (ep *endpoint) parse() {
	r := &ep.receiver
	for ep.Live() && ep.next() {
	}
	if !ep.Live() {
		return
	}
	if r.lo == r.hi {
		r.lo, r.hi = 0, 0
	} else if r.lo > 0 {
		r.hi = copy(r.ahead, r.ahead[r.lo:r.hi])
		r.lo = 0
	}
}

// next handles one frame, or one step of it, and reports whether there may be
// more to do.
func (ep *endpoint) next() bool {
	r := &ep.receiver
	if r.landing != nil {
		r.lo += r.landing.Fill(r.ahead[r.lo:r.hi])
		if r.landing.Left() > 0 {
			return false
		}
		ep.landed()
		return true
	}
	b := r.ahead[r.lo:r.hi]
	if len(b) < prefixSize {
		return false
	}
	p, err := parsePrefix(b, r.maxFrame)
	if err != nil {
		ep.Malformed(err)
		return false
	}
	if p.kind == kindGoodbye {
		ep.Goodbye()
		return false
	}
	head := prefixSize + p.header
	size := head + p.payload
	switch {
	case len(b) >= size:
		r.lo += size
		ep.counters.FramesReceived++
		err = ep.Recv.Deliver(b[prefixSize:head], b[head:size])
	case len(b) < head || size <= wholeLimit:
		return false
	default:
		r.lo += head
		r.landing, err = ep.Recv.Begin(b[prefixSize:head], p.payload)
	}
	if err != nil {
		r.landing = nil
		ep.Malformed(err)
		return false
	}
	return true
}
