package strandquic

import (
	"errors"
	"io"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is the connection to one peer.
type endpoint struct {
	wireup.Conn
	link     *link
	refused  bool   // Busy was returned and Writable is due
	lanes    []lane // of the peer; the first is that of the first stream
	ended    int    // how many of them have
	counters btl.Counters
}

// A lane is the receiving end of one stream.
type lane struct {
	framing.Scanner
	ended bool
}

var (
	_ btl.Aborter = (*endpoint)(nil)
	_ btl.Counter = (*endpoint)(nil)
)

// Send implements [btl.Endpoint].
func (e *endpoint) Send(f *btl.Frame, lane int) (r btl.Result) {
	if e.Live() {
		r = e.queue(lane).Send(f)
	} else {
		r = e.Connect()
	}
	switch r {
	case btl.Busy:
		e.refused = true
	case btl.Done:
		e.counters.FramesSent++
		e.counters.BytesSent += uint64(framing.Size(f))
	}
	return r
}

// queue is that of a lane's stream.
func (e *endpoint) queue(lane int) *handoff.Queue {
	if lane == btl.ControlLane {
		return e.link.queues[0]
	}
	return e.link.queues[1+lane%(len(e.link.queues)-1)]
}

// Prepare implements [wireup.Endpoint].
func (e *endpoint) Prepare(l wireup.Link) { e.link = l.(*link) }

// Addresses implements [wireup.Endpoint].
func (e *endpoint) Addresses() (local, remote string) { return e.link.Addresses() }

// Start implements [wireup.Endpoint].
func (e *endpoint) Start(_ wireup.Link, first []byte, peer wireup.Greeting) error {
	l := e.link
	l.ep = e
	l.queues[0].Say(first)
	e.lanes = make([]lane, 1+int(peer.Own[0]))
	for i := range e.lanes {
		e.lanes[i].Start(e.Recv, peer.MaxFrame, nil)
		if i > 0 {
			accept := func() (io.Reader, error) { return l.conn.AcceptUniStream(l.conn.Context()) }
			l.read(accept, func(b []byte, err error) { e.arrived(&e.lanes[i], b, err) })
		}
	}
	for range l.m.lanes {
		stream, err := l.conn.OpenUniStream()
		if err != nil {
			return err
		}
		q := handoff.NewQueue(l.bound)
		l.queues = append(l.queues, q)
		l.write(q, stream)
	}
	return nil
}

// arrived takes what has come in one of the peer's streams.
func (e *endpoint) arrived(from *lane, b []byte, err error) {
	e.counters.BytesReceived += uint64(len(b))
	if from.ended && errors.Is(err, io.EOF) {
		return // behind its goodbye
	}
	bad := from.Feed(b)
	switch {
	case !e.Live(): // an up-call has closed it
	case errors.Is(bad, btl.ErrPeerClosed):
		from.ended = true
		if e.ended++; e.ended == len(e.lanes) {
			e.Goodbye()
		}
	case bad != nil:
		e.Malformed(bad)
	case errors.Is(err, io.EOF):
		e.Malformed(wireup.ErrNoGoodbye)
	case err != nil:
		e.link.ended(err)
	}
}

// Ready implements [wireup.Endpoint].
func (e *endpoint) Ready() {
	if e.refused {
		e.refused = false
		e.Recv.Writable()
	}
}

// InFlight implements [wireup.Endpoint]: what QUIC holds is not known.
func (e *endpoint) InFlight() int { return -1 }

// Detach implements [wireup.Endpoint].
func (e *endpoint) Detach(how wireup.End) {
	for i := range e.lanes {
		e.lanes[i].Stop(how == wireup.Lost)
	}
	if how == wireup.Leaves {
		e.link.Leave(nil)
	} else {
		e.link.Abort()
	}
}

// Counters implements [btl.Counter].
func (e *endpoint) Counters() btl.Counters {
	c := e.counters
	for i := range e.lanes {
		c.FramesReceived += e.lanes[i].Frames()
	}
	return c
}
