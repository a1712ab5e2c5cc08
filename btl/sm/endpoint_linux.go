package sm

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/borrowing"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is the connection to one peer, from its first thought to its end.
type endpoint struct {
	wireup.Conn
	m        *module
	remote   string // the peer's name, for people
	pipe     *pipe  // while connected
	limit    int    // the largest payload that the peer has announced
	refused  bool   // Busy was returned and Writable is due
	failure  error  // found by Send and still to be reported
	landing  *btl.Landing
	header   [btl.MaxHeader]byte
	reading  reading // of a frame that is lent to us
	began    int64   // when the frame began that is arriving
	end      error   // the peer's, which has been seen, while what it has left is read
	counters btl.Counters
	taker    btl.Sated // the receiver, if it is one
}

var (
	_ wireup.Endpoint = (*endpoint)(nil)
	_ btl.Aborter     = (*endpoint)(nil)
	_ btl.Poller      = (*endpoint)(nil)
	_ btl.Recaller    = (*endpoint)(nil)
	_ btl.Flusher     = (*endpoint)(nil)
	_ btl.Keeper      = (*endpoint)(nil)
	_ btl.Reporter    = (*endpoint)(nil)
	_ btl.Gauge       = (*endpoint)(nil)
	_ owner           = (*endpoint)(nil)
)

var (
	errNoGoodbye = fmt.Errorf("the peer's end of the connection has closed %w", wireup.ErrNoGoodbye)
	errBell      = errors.New("malformed: something else than a bell on the socket")
	errNoMemory  = errors.New("the peer has let us in and handed over no memory")
)

// Prepare implements [wireup.Endpoint].
func (ep *endpoint) Prepare(l wireup.Link) { _, ep.remote = l.Addresses() }

// Addresses implements [wireup.Endpoint].
func (ep *endpoint) Addresses() (local, remote string) { return "@" + ep.m.name, ep.remote }

// Start implements [wireup.Endpoint]. The side that was connected to makes the memory.
func (ep *endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) error {
	t := l.(*talk)
	ep.limit = peer.MaxFrame
	maker := t.name == ""
	mem, order, err := t.share(first, maker)
	fd := t.release()
	if err == nil {
		ep.pipe, err = ep.m.newPipe(ep, fd, mem, maker, order)
		if err != nil {
			_ = unix.Munmap(mem)
		} else {
			ep.pipe.peer = borrowing.Of(t.pid)
		}
	}
	if err != nil {
		unix.Close(fd)
		switch remedy := remedyOf(err); {
		case openfiles.Exhausted(err):
			err = fmt.Errorf("no shared memory: %w", err) // wireup says what to do
		case remedy != "":
			err = fmt.Errorf("no shared memory: %w (%s)", err, remedy)
		}
	}
	return err
}

// share makes the memory and hands it over with the last message of the handshake, or takes the
// memory that has come with that message.
func (t *talk) share(first []byte, maker bool) ([]byte, order, error) {
	if !maker {
		defer t.dropMemory()
		if !t.handed {
			return nil, order{}, errNoMemory
		}
		mem, err := takeSegment(t.memory)
		if err == nil {
			t.m.leaveMark(mem, false)
		}
		return mem, orderOf(t.memory, false), err
	}
	fd, mem, err := makeSegment(t.m.cfg.ring)
	if err != nil {
		return nil, order{}, err
	}
	defer unix.Close(fd)
	t.m.leaveMark(mem, true)
	if err := t.hand(first, fd); err != nil {
		_ = unix.Munmap(mem)
		return nil, order{}, err
	}
	return mem, orderOf(fd, true), nil
}

// Ready implements [wireup.Endpoint].
func (ep *endpoint) Ready() {
	ep.taker, _ = ep.Recv.(btl.Sated)
	if ep.refused {
		ep.refused = false
		ep.Recv.Writable()
	}
}

// Detach implements [wireup.Endpoint].
func (ep *endpoint) Detach(how wireup.End) {
	l := ep.landing
	ep.landing = nil
	if p := ep.pipe; p == nil {
		return // the connection never got its memory
	} else {
		if s, ok := ep.Recv.(btl.Saver); ok {
			s.Save()
		}
		if how == wireup.Leaves {
			ep.m.leave(p)
		} else {
			p.close()
		}
	}
	if l != nil && how == wireup.Lost {
		ep.Recv.Drop(l)
	}
}

// Send implements [btl.Endpoint].
func (ep *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	if !ep.Live() {
		r := ep.Connect()
		ep.refused = ep.refused || r == btl.Busy
		return r
	}
	p := ep.pipe
	switch {
	case ep.failure != nil:
		return btl.Broken
	case p.count == maxQueued:
		ep.refused = true
		return btl.Busy
	}
	if p.first == nil && p.out.fits(f) {
		p.order.out.Wrote()
		p.out.short(f)
		p.wake(sleeps)
		ep.counters.FramesSent++
		ep.counters.BytesSent += uint64(wordSize + len(f.Header) + f.Size)
		return btl.Done
	}
	f.Progress = 0
	fate := waiting
	if p.first == nil {
		fate = p.write(f)
	}
	if p.out.err != nil {
		ep.broken(p.out.err)
		return btl.Broken
	}
	ep.counters.FramesSent++
	ep.counters.BytesSent += uint64(wordSize + len(f.Header) + f.Size)
	switch fate {
	case written:
		return btl.Done
	case waiting:
		p.enqueue(f)
	}
	p.await()
	return btl.Taken
}

// Kept implements [btl.Keeper]: what is in the ring stays there until the peer has read it.
func (ep *endpoint) Kept(f *btl.Frame) (place uint64) { return ep.pipe.out.payloadOf(f) }

// Again implements [btl.Keeper].
func (ep *endpoint) Again(place uint64, b []byte) bool { return ep.pipe.out.again(place, b) }

// broken takes note of a failure that Send has found; the loop reports it.
func (ep *endpoint) broken(err error) {
	ep.failure = err
	ep.m.loop.Post(func() {
		if ep.Live() {
			ep.Malformed(err)
		}
	})
}

// Poll implements [btl.Poller].
func (ep *endpoint) Poll() bool {
	if !ep.Live() {
		return false
	}
	did := ep.progress()
	if p := ep.pipe; p != nil {
		p.fresh = true
	}
	return did
}

// hears implements owner.
func (ep *endpoint) hears() bool { return true }

// event implements owner: the bell, or the peer's end. What the peer wrote before its end is
// still in the memory, and is handed over first.
func (ep *endpoint) event() bool {
	p := ep.pipe
	did, end := p.heard()
	if ep.end == nil {
		ep.end = end
	}
	did = ep.progress() || did
	if ep.end == nil {
		return did
	}
	// What the peer has written before its end is within one ring. It may go on to write, which is nonsense.
	for all := p.in.count + uint64(len(p.in.slots)/slotSize); ep.Live() && p.in.count < all && ep.receive(); {
	}
	// While a Mover still reads what the peer has lent, the end has to wait: the system tells of it again.
	if ep.Live() && !p.mover.given {
		ep.Down(ep.Error("receiving", ep.end))
	}
	return true
}

// progress implements owner: it hands over what has arrived and writes what waits.
func (ep *endpoint) progress() bool {
	did := ep.receive()
	if ep.Live() && ep.pipe.waits() {
		did = ep.resume() || did
	}
	return did
}

// resume goes on writing where there was no room.
func (ep *endpoint) resume() bool {
	p := ep.pipe
	if ep.failure != nil {
		return false
	}
	whole, n, did := p.push()
	for _, f := range whole[:n] {
		if ep.Live() {
			ep.Recv.Released(f)
		}
	}
	for ep.Live() {
		f, ok := p.back()
		if !ok {
			break
		}
		if did = true; f != nil {
			ep.Recv.Released(f)
		}
	}
	if ep.Live() && p.out.err != nil {
		ep.Malformed(p.out.err)
	}
	if ep.Live() && ep.refused && p.count <= maxQueued/2 {
		ep.refused = false
		ep.Recv.Writable()
	}
	return did
}

// Flush implements [btl.Flusher]: nothing is held back.
func (ep *endpoint) Flush() {}

// Queued implements [btl.Flusher].
func (ep *endpoint) Queued() int {
	if !ep.Live() {
		return 0
	}
	return ep.pipe.queued()
}

// Outstanding implements [btl.Gauge].
func (ep *endpoint) Outstanding() int {
	if !ep.Live() {
		return -1
	}
	return ep.pipe.out.unread() + ep.pipe.lent + ep.pipe.queued()
}

// InFlight implements [wireup.Endpoint].
func (ep *endpoint) InFlight() int {
	if ep.pipe == nil {
		return 0
	}
	return ep.Outstanding()
}

// Recall implements [btl.Recaller].
func (ep *endpoint) Recall() int {
	if !ep.Live() || ep.failure != nil {
		return 0
	}
	copied := ep.pipe.recall()
	if ep.refused {
		ep.m.loop.Post(func() { // perhaps no frame is left whose writing would offer room
			if ep.Live() && ep.pipe.count <= maxQueued/2 {
				ep.Ready()
			}
		})
	}
	return copied
}

// Report implements [btl.Reporter].
func (ep *endpoint) Report() btl.Report {
	report, c := ep.Conn.Report(), ep.counters
	if ep.pipe != nil {
		c.SendCalls = ep.pipe.bells
	}
	report.Counters = &c
	return report
}
