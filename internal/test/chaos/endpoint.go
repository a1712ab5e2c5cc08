package chaos

import (
	"errors"
	"fmt"
	"time"

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

type endpoint struct {
	m        *module
	peer     int
	path     int
	address  uint64
	receiver btl.Receiver
	remote   *endpoint // the other side, once known
	state    state
	unasked  bool // connecting, but in silence
	stirring bool // in the module's list
	heardOf  bool // something has arrived at the other side

	waiting  []*packet            // to be sent when the endpoint is up
	lent     map[*packet]struct{} // read from the sender's memory when they arrive
	underway int                  // frames sent that have not arrived
	leaving  []delayed            // to be released
	busy     bool                 // Send has said so
	room     int                  // polls until it is taken back

	pool []*packet // under way to this side, in the order of sending
}

// Desc implements [btl.Endpoint].
func (e *endpoint) Desc() string {
	return fmt.Sprintf("%s: rank %d → rank %d", e.m.c.Name(), e.m.host.Rank(), e.peer)
}

// Path implements [btl.Pather].
func (e *endpoint) Path() btl.Path {
	return btl.Path{Bandwidth: 10_000, Latency: time.Microsecond, Weight: 1, Index: e.path, Urgent: e.path == urgentPath, Desc: "through chaos"}
}

// Speed implements [btl.Speedometer]: not known, slow or quick, and the same each time, since the host asks by the clock.
func (e *endpoint) Speed() int64 {
	const slow, quick = 10 << 20, 10 << 30
	return [...]int64{0, slow, quick}[(e.m.config.Seed+uint64(e.m.host.Rank()+e.peer+e.path))%3]
}

// Send implements [btl.Endpoint].
func (e *endpoint) Send(f *btl.Frame, lane int) btl.Result {
	c := &e.m.config
	switch {
	case e.state == ended:
		return btl.Broken
	case f.Size > c.MaxFrame || len(f.Header) == 0 || len(f.Header) > btl.MaxHeader:
		err := fmt.Errorf("a frame with a header of %d bytes (1 to %d) and a payload of %d (at most %d)",
			len(f.Header), btl.MaxHeader, f.Size, c.MaxFrame)
		e.m.post(func() { e.fail("sending", err) })
		return btl.Broken
	case e.state == idle:
		e.connect()
	}
	if e.busy || e.underway >= c.Window || c.Refuse > 0 && e.m.random.IntN(c.Refuse) == 0 {
		if !e.busy {
			e.busy, e.room = true, e.m.polls()
			e.m.stir(e)
		}
		return btl.Busy
	}
	p := &packet{header: append([]byte(nil), f.Header...), size: f.Size, lane: lane % c.Lanes}
	result := e.accept(p, f)
	e.dispatch(p)
	if e.m.lies {
		e.lie(p)
	}
	return result
}

// dispatch puts a packet on its way, now or once the endpoint is connected.
func (e *endpoint) dispatch(p *packet) {
	e.underway++
	if e.state == connecting {
		e.waiting = append(e.waiting, p)
	} else {
		e.transmit(p)
	}
}

// accept decides when the frame's memory is read and when it is released.
func (e *endpoint) accept(p *packet, f *btl.Frame) btl.Result {
	p.source = f
	switch way := e.m.random.IntN(3); {
	case e.m.config.Local || way == 0: // when it has arrived
		p.frame = f
		if e.lent == nil {
			e.lent = make(map[*packet]struct{})
		}
		e.lent[p] = struct{}{}
		return btl.Taken
	case way == 1: // whenever
		p.bytes()
		e.leaving = append(e.leaving, delayed{f, e.m.polls()})
		e.m.stir(e)
		return btl.Taken
	default:
		p.bytes()
		return btl.Done
	}
}

// transmit puts a packet on its way.
func (e *endpoint) transmit(p *packet) {
	r := e.remote
	r.m.post(func() { r.arrive(p) })
}

// arrived: the peer has had these packets.
func (e *endpoint) arrived(packets []*packet) {
	if e.state == ended {
		return
	}
	e.heardOf = true
	for _, p := range packets {
		e.underway--
		if p.frame != nil {
			delete(e.lent, p)
			e.leaving = append(e.leaving, delayed{p.frame, e.m.polls()})
		}
	}
	e.m.stir(e)
}

// restless reports whether the next poll has something to do.
func (e *endpoint) restless() bool {
	return len(e.pool) > 0 && !e.m.c.is(Silent) || len(e.leaving) > 0 || e.canWrite()
}

func (e *endpoint) canWrite() bool {
	return e.busy && e.state == up && e.underway < e.m.config.Window
}

// move does what is due at this poll, and reports whether anything was.
func (e *endpoint) move() bool {
	did := e.release()
	if e.state != ended && !e.m.c.is(Silent) {
		did = e.deliver() || did
	}
	if e.state != ended && e.canWrite() {
		if e.room--; e.room < 0 {
			e.busy = false
			e.receiver.Writable()
			did = true
		}
	}
	return did
}

// release gives frames back, in any order.
func (e *endpoint) release() bool {
	did := false
	all := e.leaving
	e.leaving = nil
	e.m.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, d := range all {
		if d.wait > 0 {
			d.wait--
			e.leaving = append(e.leaving, d)
			continue
		}
		if e.state != ended {
			e.receiver.Released(d.frame)
			did = true
		}
	}
	return did
}

// Close implements [btl.Endpoint]. All that was sent is on its way already.
func (e *endpoint) Close() error {
	if e.state == ended {
		return nil
	}
	if e.state == up && e.remote != e {
		e.transmit(&packet{goodbye: true})
	}
	e.end()
	return nil
}

// end forgets everything. What is under way leaves the sender's memory.
func (e *endpoint) end() {
	for p := range e.lent {
		p.bytes()
	}
	e.state = ended
	e.lent, e.waiting, e.leaving, e.pool = nil, nil, nil, nil
	delete(e.m.endpoints, e)
}

// fail ends the connection and tells the receiver why.
func (e *endpoint) fail(phase string, cause error) { e.down(e.failure(phase, cause)) }

// finally ends an attempt to connect that any other would only repeat.
func (e *endpoint) finally(cause error) {
	err := e.failure("connecting", cause)
	err.Final = true
	e.down(err)
}

func (e *endpoint) failure(phase string, cause error) *btl.ConnError {
	return &btl.ConnError{
		Transport: e.m.c.Name(), Rank: e.m.host.Rank(), Peer: e.peer, Phase: phase, InFlight: -1, Err: cause,
	}
}

func (e *endpoint) down(err error) {
	if e.state == ended {
		return
	}
	if e.m.config.Local {
		for _, d := range e.leaving {
			e.receiver.Released(d.frame)
		}
		e.leaving = nil
	}
	for _, p := range e.pool {
		if p.landing != nil {
			e.receiver.Drop(p.landing)
		}
	}
	if r := e.remote; r != nil && r != e && !errors.Is(err, btl.ErrPeerClosed) {
		r.m.post(func() { r.fail("receiving", errCut) })
	}
	e.end()
	e.receiver.Down(err)
}
