package sm

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
)

// readBudget is how much one poll reads, so that a peer that sends without end does not keep
// the others waiting.
const readBudget = 1 << 20

var (
	errPieceAlone = errors.New("malformed frame: a piece of none")
	errUnfinished = errors.New("malformed frame: another one begins before all its pieces were there")
)

// inRow is the most frames that one poll hands over.
const inRow = 16

// receive hands over what has arrived. After an empty look that is at most one frame. A thread that
// waits for that frame need not wait for a look behind it, at a cache line that the peer may be
// writing. If the next call finds another frame at once, the peer is ahead of us, and several are
// handed over in a row. A long frame is the first of a call: if the frame before it has ended a wait,
// the program may post the receive for the long one, which then need not be copied. A receiver that has what it waits for
// gets no more either ([btl.Sated]).
func (ep *endpoint) receive() bool {
	p := ep.pipe
	if p.working || p.mover.given {
		return false
	}
	word := p.in.next()
	if word == 0 {
		p.behind = false
		return false
	}
	p.working = true
	if !p.tried {
		p.try()
	}
	frames := 1
	if p.behind {
		frames = inRow
	} else {
		p.out.lookToAnswer(word)
	}
	for budget := readBudget; budget > 0 && word != 0; word = p.in.next() {
		var n, read int
		var more bool
		var err error
		p.order.in.Reads()
		if header, payload := p.in.short(word, &ep.header); header != nil && ep.landing == nil && !ep.reading.open && len(payload) <= ep.limit {
			ep.counters.FramesReceived++
			err = ep.Recv.Deliver(header, payload)
		} else if kind := kindOf(word); budget < readBudget && (kind == kindBegin || kind == kindLent && !ep.reading.open) {
			break
		} else {
			n, read, more, err = ep.take(word, budget)
		}
		if err != nil && ep.Live() {
			ep.Malformed(err)
		}
		if !ep.Live() || p.closed || ep.reading.open {
			break // in may be gone, or the record is still being read
		}
		budget -= slotSize + n + read
		if !p.in.amid() {
			ep.counters.BytesReceived += uint64(slotSize + n)
			if p.in.advance(n) {
				p.wake(needRoom)
			}
		}
		if more {
			continue
		}
		if frames--; frames == 0 || ep.taker != nil && ep.taker.Sated() {
			break
		}
	}
	p.behind, p.working = word != 0, false
	if p.closed {
		p.unmap()
	}
	return true
}

// take handles one record, or one frame of a bunch. It returns how many bytes of the store are done with, how many it has read
// from the peer's memory, of so many at most, or from a bunch, and whether to look for the next record at once.
func (ep *endpoint) take(word uint64, most int) (n, read int, more bool, err error) {
	if h, payload, size := ep.pipe.in.whole(word); h != nil && ep.landing == nil && !ep.reading.open && len(payload) <= ep.limit {
		ep.counters.FramesReceived++
		return size, 0, false, ep.Recv.Deliver(ep.header[:copy(ep.header[:], h)], payload)
	}
	return ep.takeAny(word, most)
}

// takeAny is take for all records but the frequent one, a frame in one piece that is in order.
func (ep *endpoint) takeAny(word uint64, most int) (n, read int, more bool, err error) {
	var c record
	if err := ep.pipe.in.parse(word, &c); err != nil {
		return 0, 0, false, err
	}
	header := ep.header[:copy(ep.header[:], c.header)]
	if !ep.follows(&c) {
		return 0, 0, false, errUnfinished
	}
	switch c.kind {
	case kindWhole:
		if c.length > ep.limit {
			return 0, 0, false, ep.tooLong(c.length)
		}
		ep.counters.FramesReceived++
		return c.size, 0, false, ep.Recv.Deliver(header, c.payload)
	case kindBegin:
		if c.length > ep.limit {
			return 0, 0, false, ep.tooLong(c.length)
		}
		l, err := ep.Recv.Begin(header, c.length)
		if err == nil && ep.Live() {
			ep.landing, ep.began, ep.reading.size = l, ep.m.loop.Now(), c.length
		}
		return c.size, 0, true, err
	case kindPiece:
		more, err := ep.piece(c.payload)
		return c.size, 0, more, err
	case kindBunch:
		return ep.bunch(&c)
	case kindLent:
		n, done, err := ep.borrow(&c, header, most)
		if !done {
			return 0, n, false, err
		}
		return c.size, n, false, err
	case kindGoodbye:
		ep.Goodbye()
		return c.size, 0, false, nil
	}
	return c.size, 0, true, nil
}

// bunch hands over the next frame of one, or ends it.
func (ep *endpoint) bunch(c *record) (n, read int, more bool, err error) {
	h, payload, err := ep.pipe.in.fromBunch(c.payload)
	switch {
	case err != nil:
		return 0, 0, false, err
	case h == nil:
		return c.size, 0, true, nil
	case len(payload) > ep.limit:
		return 0, 0, false, ep.tooLong(len(payload))
	}
	ep.counters.FramesReceived++
	return 0, len(payload), false, ep.Recv.Deliver(ep.header[:copy(ep.header[:], h)], payload)
}

// follows reports whether a record may come now.
func (ep *endpoint) follows(c *record) bool {
	switch {
	case ep.reading.open:
		return c.kind == kindLent
	case ep.landing != nil:
		return c.kind == kindPiece
	}
	return true
}

func (ep *endpoint) tooLong(n int) error {
	return fmt.Errorf("malformed frame: payload of %d bytes, the peer has announced at most %d", n, ep.limit)
}

// piece lands one, and says whether there are others to come.
func (ep *endpoint) piece(b []byte) (more bool, err error) {
	l := ep.landing
	switch {
	case l == nil:
		return false, errPieceAlone
	case len(b) > l.Left():
		return false, fmt.Errorf("malformed frame: a piece of %d bytes where %d are left", len(b), l.Left())
	}
	if l.Fill(b); l.Left() > 0 {
		return true, nil
	}
	ep.pipe.wants.observe(ep.reading.size, ep.m.loop.Now()-ep.began, false)
	ep.landing = nil
	ep.counters.FramesReceived++
	return false, ep.Recv.End(l)
}

var _ btl.Handler = (*socketEvents)(nil)
