package sm

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"unsafe"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/borrowing"
)

// A reading is the receiver's view of the frame that is lent to it.
type reading struct {
	open    bool
	size    int
	done    int    // bytes read
	state   uint64 // as it was when the reading began
	address uint64
	err     error // with which a Mover has ended
}

var (
	errNotAsked  = errors.New("malformed frame: lent, though this process can not read the peer's memory")
	errLoanState = errors.New("malformed frame: lent in a state that there is not")
	errTakenBack = fmt.Errorf("the peer has taken back what it was sending: %w", errNoGoodbye)
)

// borrow reads a frame that was lent, up to so many bytes of it. It returns how many, and whether the
// record is done with.
func (ep *endpoint) borrow(c *record, header []byte, most int) (n int, done bool, err error) {
	state := (*atomic.Uint64)(unsafe.Pointer(&c.loan[stateAt]))
	r := &ep.reading
	if !r.open {
		if ep.pipe.wants.said&mayLend == 0 {
			return 0, false, errNotAsked
		}
		if state.Load() == stateRecalled {
			return 0, true, nil
		}
		if c.length > ep.limit {
			return 0, false, ep.tooLong(c.length)
		}
		if !state.CompareAndSwap(stateLent, stateBegun) && state.Load() == stateRecalled {
			return 0, true, nil
		}
		l, err := ep.Recv.Begin(header, c.length)
		if err != nil || !ep.Live() || ep.pipe.closed {
			return 0, false, err
		}
		ep.landing, ep.began = l, ep.m.loop.Now()
		*r = reading{open: true, size: c.length}
		if err := r.look(state.Load(), c); err != nil {
			return 0, false, err
		}
	}
	for {
		read, err := ep.readLoan(most - n)
		n += read
		if err == nil && r.done < r.size {
			return n, false, nil
		}
		if err != nil && state.Load() == r.state {
			return n, false, ep.unreadable(err)
		} // else the peer has its memory back, and may have given it to the system
		if err == nil && state.CompareAndSwap(r.state, stateTaken) {
			break
		}
		if err := r.look(state.Load(), c); err != nil {
			return n, false, err
		}
	}
	p := ep.pipe
	err = ep.endLoan()
	if !p.closed {
		p.wake(needRoom) // most often the acknowledgement has woken it
	}
	return n, true, err
}

// look takes note of where the frame is.
func (r *reading) look(state uint64, c *record) error {
	offset := addressAt
	switch {
	case state == stateBegun:
	case state == stateMoved && r.state != stateMoved:
		offset = copyAt
	case state == stateRecalled:
		return errTakenBack
	default:
		return errLoanState
	}
	r.state, r.done, r.address = state, 0, binary.NativeEndian.Uint64(c.loan[offset:])
	return nil
}

// readLoan reads on, up to so many bytes: into the landing place, where that has one piece. What is read
// counts only when it was claimed. So the landing stays where it is until then.
func (ep *endpoint) readLoan(most int) (n int, err error) {
	r, l := &ep.reading, ep.landing
	if l.Revoked() {
		r.done = r.size // nobody wants it
		return 0, nil
	}
	if err, r.err = r.err, nil; err != nil {
		return 0, err
	}
	place := l.Next()
	switch {
	case len(place) < l.Left() || l.Staged():
		if cap(ep.m.bounce) < r.size {
			ep.m.bounce = make([]byte, r.size)
		}
		place, most, r.done = ep.m.bounce[:r.size], r.size, 0 // all at once: others use it too
	case r.size-r.done > btl.LongMove && l.Pinnable() && ep.end == nil:
		ep.pipe.mover.give(ep)
		return 0, nil
	}
	for r.done < r.size && n < most {
		part := place[r.done:min(r.done+btl.LongMove, r.size)]
		if err := ep.pipe.peer.Read(part, r.address+uint64(r.done), r.done+len(part) == r.size); err != nil {
			return n, err
		}
		r.done += len(part)
		n += len(part)
	}
	return n, nil
}

// A loanMover reads, without the lock, from what is lent.
type loanMover struct {
	p       *pipe
	given   bool // to the loop: nothing else is read from the ring meanwhile
	landing *btl.Landing
	part    []byte
	from    uint64
	last    bool
	err     error
}

var _ btl.Mover = (*loanMover)(nil)

func (v *loanMover) give(ep *endpoint) {
	v.p, v.given = ep.pipe, true
	ep.m.loop.Move(v)
}

// reader returns the endpoint, unless that has nothing more to do with the connection.
func (v *loanMover) reader() *endpoint {
	if ep, ok := v.p.owner.(*endpoint); ok && !v.p.closed && ep.Live() && ep.reading.open {
		return ep
	}
	return nil
}

// Begin implements [btl.Mover].
func (v *loanMover) Begin(most int) bool {
	v.given = false
	ep := v.reader()
	if ep == nil {
		return false
	}
	l, r := ep.landing, &ep.reading
	if l.Revoked() || len(l.Next()) < l.Left() || l.Pin() == nil {
		return false // the next poll sees to it
	}
	end := min(r.done+most, r.size)
	v.given, v.landing = true, l
	v.part, v.from, v.last = l.Next()[r.done:end], r.address+uint64(r.done), end == r.size
	return true
}

// Move implements [btl.Mover]. What was read counts when it was claimed, and not before.
func (v *loanMover) Move() {
	v.err = v.p.peer.Read(v.part, v.from, v.last)
	v.landing.Unpin(0)
}

// End implements [btl.Mover].
func (v *loanMover) End() bool {
	v.landing.Settle()
	n := len(v.part)
	v.given, v.landing, v.part = false, nil, nil
	ep := v.reader()
	if ep == nil {
		return false
	}
	if ep.reading.err = v.err; v.err == nil {
		ep.reading.done += n
	}
	return ep.receive()
}

// endLoan hands over a frame that was claimed.
func (ep *endpoint) endLoan() error {
	r, l := &ep.reading, ep.landing
	if !l.Revoked() && (len(l.Next()) < l.Left() || l.Staged()) {
		l.Fill(ep.m.bounce[:r.size])
	} else {
		l.Advance(l.Left())
	}
	ep.pipe.wants.observe(r.size, ep.m.loop.Now()-ep.began, true)
	r.open, ep.landing = false, nil
	ep.counters.FramesReceived++
	ep.counters.BytesReceived += uint64(r.size)
	return ep.Recv.End(l)
}

// unreadable ends the connection, since what was lent can not be read. Unless the peer is simply gone, no connection of this module
// is lent anything any more: the message layer sends again what is lost.
func (ep *endpoint) unreadable(err error) error {
	if !borrowing.Gone(err) {
		ep.m.refuseLoans(err)
	}
	ep.Down(ep.Error("receiving", err))
	return nil
}

// leaveMark tells the peer where our mark is, so that it can read our memory.
func (m *module) leaveMark(mem []byte, maker bool) {
	if m.cfg.lend {
		_, _, us, _ := ends(mem, maker)
		us.mark.Store(m.mark.Value())
		us.markAt.Store(m.mark.Address())
	}
}

// try reads the peer's mark, which shows whether the system lets this process do so, and tells the peer that it may lend. It is
// called when the peer has written something, and so has said where its mark is, and whether it looks again.
func (p *pipe) try() {
	p.tried = true
	p.out.hasty = p.them.again.Load() == 1
	m, address := p.m, p.them.markAt.Load()
	if !m.cfg.lend || m.unreadable || p.peer.Process() <= 0 || address == 0 {
		return // the peer does not lend, or nobody is to
	}
	if err := p.peer.Try(address, p.them.mark.Load()); err != nil {
		m.refuseLoans(err)
		return
	}
	p.wants.allow()
	m.host.Logf(btl.LogInfo, "long messages of process %d may be read from its memory", p.peer.Process())
}

// refuseLoans has no peer lend anything from now on.
func (m *module) refuseLoans(why error) {
	if !m.unreadable {
		m.unreadable = true
		m.host.Logf(btl.LogInfo, "long messages are copied twice from now on, over new connections: %v", why)
	}
}
