package mem

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
)

// state is how far an endpoint has come.
type state uint8

const (
	idle       state = iota // nothing was sent
	connecting              // asked the peer
	up
	ended // down, or closed
)

// copyLimit is the payload up to which a frame is copied and done with at once,
// unless the module is local.
const copyLimit = 4 << 10

// Endpoint implements [btl.Endpoint].
type Endpoint struct {
	m        *Module
	peer     int
	address  uint64
	receiver btl.Receiver
	remote   *Endpoint // the other side, once known
	state    state
	closed   bool
	reported bool // Down was called, or is about to be

	limit    btl.Timer // of the peer's answer
	waiting  []*packet // to be sent when the endpoint is up
	lent     []*packet // those with a frame of the host's, some of which were acknowledged
	underway int       // frames sent and not acknowledged
	busy     bool      // Send has said so
	kept     store     // what was passed on, for a [btl.Keeper]

	inbox  []*packet
	landed *btl.Landing // of the packet at the head of the inbox
	read   int
	queued bool // in the module's list of those that are arriving
	apart  apart
}

// A packet is a frame under way. It owns its bytes.
type packet struct {
	header, payload []byte
	frame           *btl.Frame // the sender's, if it was taken
	goodbye         bool
	read            bool // by the peer, as its sender knows
}

// Desc implements [btl.Endpoint].
func (e *Endpoint) Desc() string {
	return fmt.Sprintf("mem: rank %d → rank %d", e.m.host.Rank(), e.peer)
}

// Send implements [btl.Endpoint].
func (e *Endpoint) Send(f *btl.Frame, lane int) btl.Result {
	switch {
	case e.state == ended:
		return btl.Broken
	case f.Size > e.m.config.MaxFrame || len(f.Header) == 0 || len(f.Header) > btl.MaxHeader:
		e.failSoon("sending", fmt.Errorf("a frame with a header of %d bytes (1 to %d) and a payload of %d (at most %d)",
			len(f.Header), btl.MaxHeader, f.Size, e.m.config.MaxFrame))
		return btl.Broken
	case e.underway >= e.m.config.Window:
		e.busy = true
		return btl.Busy
	case e.state == idle:
		e.connect()
	}
	p := &packet{header: append([]byte(nil), f.Header...)}
	if e.m.config.Borrows && f.Size > copyLimit && len(f.More) == 0 {
		p.payload = f.Payload
	} else {
		p.payload = make([]byte, f.Size)
		f.CopyPayload(p.payload)
	}
	result := btl.Done
	if e.m.config.Local || f.Size > copyLimit {
		p.frame, result = f, btl.Taken
		e.lend(p)
	} else if e.m.config.Keeps > 0 {
		e.kept.keep(p, e.m.config.Keeps)
	}
	e.underway++
	if e.state == connecting {
		e.waiting = append(e.waiting, p)
	} else {
		e.transmit(p)
	}
	return result
}

// transmit puts a packet on its way.
func (e *Endpoint) transmit(p *packet) {
	if n := e.m.config.Lossy; n > 0 && !p.goodbye {
		if e.m.sent++; e.m.sent%n == 0 {
			e.m.host.Loop().Post(func() { e.acknowledged(p) })
			return
		}
	}
	r := e.remote
	r.m.host.Loop().Post(func() { r.arrive(p) })
}

// lend notes a packet that has a frame of the host's.
func (e *Endpoint) lend(p *packet) {
	if len(e.lent) == cap(e.lent) {
		e.lent = slices.DeleteFunc(e.lent, func(p *packet) bool { return p.frame == nil })
	}
	e.lent = append(e.lent, p)
}

// Recall implements [btl.Recaller]. All packets have copies of their own already.
func (e *Endpoint) Recall() int {
	for _, p := range e.lent {
		p.frame = nil
	}
	e.lent = nil
	return 0
}

// acknowledged: the peer has had the packet.
func (e *Endpoint) acknowledged(p *packet) {
	if e.state == ended {
		return
	}
	p.read = true
	e.underway--
	if f := p.frame; f != nil {
		p.frame = nil
		e.receiver.Released(f)
	}
	if e.busy && e.state == up {
		e.busy = false
		e.receiver.Writable()
	}
}

// arrive takes a packet from the network.
func (e *Endpoint) arrive(p *packet) {
	if e.state == ended {
		return
	}
	e.inbox = append(e.inbox, p)
	if !e.queued && !e.apart.asked {
		e.later()
	}
}

// later has the module look at the inbox.
func (e *Endpoint) later() {
	e.queued = true
	e.m.arriving = append(e.m.arriving, e)
}

// advance hands over what is in the inbox, but no more than one chunk of a frame
// that comes in chunks.
func (e *Endpoint) advance() {
	for len(e.inbox) > 0 && e.state == up {
		p := e.inbox[0]
		if p.goodbye {
			e.down(btl.ErrPeerClosed)
			return
		}
		whole, err := e.handOver(p)
		if err != nil {
			e.fail("receiving", err)
			return
		}
		if whole {
			r := e.remote
			r.m.host.Loop().Post(func() { r.acknowledged(p) })
		}
		switch {
		case e.state == ended: // the receiver has closed it
			e.landed = nil
			return
		case !whole:
			if !e.apart.asked {
				e.later()
			}
			return
		}
		e.inbox = e.inbox[1:]
	}
}

// handOver gives the receiver a frame, or the next chunk of one.
func (e *Endpoint) handOver(p *packet) (whole bool, err error) {
	chunk := e.m.config.Chunk
	if len(p.payload) <= chunk {
		return true, e.receiver.Deliver(p.header, p.payload)
	}
	if e.landed == nil {
		if e.landed, err = e.receiver.Begin(p.header, len(p.payload)); err != nil {
			e.landed = nil
			return false, err
		}
		e.read = 0
		return false, nil
	}
	if e.m.config.Moves && !e.apart.refused {
		e.apart = apart{asked: true}
		e.m.host.Loop().Move((*mover)(e))
		return false, nil
	}
	e.apart.refused = false
	e.read += e.landed.Fill(p.payload[e.read:min(e.read+chunk, len(p.payload))])
	if e.landed.Left() > 0 {
		return false, nil
	}
	l := e.landed
	e.landed = nil
	return true, e.receiver.End(l)
}

// Close implements [btl.Endpoint]. All that was taken is on its way already, as
// a copy; the peer's inbox keeps it.
func (e *Endpoint) Close() error {
	if e.closed {
		return nil
	}
	e.closed = true
	if e.state == up && e.remote != e && !e.m.config.Curt {
		e.transmit(&packet{goodbye: true})
	}
	e.release()
	return nil
}

// release forgets everything.
func (e *Endpoint) release() {
	e.giveKept()
	e.state = ended
	if e.landed != nil {
		e.landed.Settle()
	}
	e.inbox, e.landed, e.waiting, e.lent = nil, nil, nil, nil
	e.answered()
	delete(e.m.endpoints, e)
}

// fail ends the connection and tells the receiver why.
func (e *Endpoint) fail(phase string, cause error) {
	e.down(&btl.ConnError{
		Transport: "mem", Rank: e.m.host.Rank(), Peer: e.peer, Phase: phase, InFlight: -1, Err: cause,
	})
}

// failSoon is fail for Send, which makes no up-call.
func (e *Endpoint) failSoon(phase string, cause error) {
	e.m.host.Loop().Post(func() { e.fail(phase, cause) })
}

func (e *Endpoint) down(err error) {
	if e.closed || e.reported {
		return
	}
	e.reported = true
	if e.landed != nil {
		e.receiver.Drop(e.landed)
	}
	if r := e.remote; r != nil && r != e && !errors.Is(err, btl.ErrPeerClosed) {
		r.m.host.Loop().Post(func() { r.fail("receiving", errCut) })
	}
	if e.release(); !e.closed { // by the host, when it was told
		e.receiver.Down(err)
	}
}
