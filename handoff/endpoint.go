package handoff

import (
	"errors"
	"fmt"
	"io"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/wireup"
)

// An Endpoint is the endpoint of a transport whose links are a [Link]. Each stream carries
// frames in the form of package framing. With several streams the first is for the message
// layer's control frames and for urgent messages; lane l travels in one of the others, by l modulo their number. The peer
// has left in order when each of its streams has ended with a goodbye, since streams do not wait
// for each other.
//
// A transport with one stream needs no endpoint of its own. One with several embeds it
// and opens them in Start, after [Endpoint.Begin].
type Endpoint struct {
	wireup.Conn
	link     *Link
	in       []stream // the peer's
	ended    int      // how many of them have ended with a goodbye
	counters btl.Counters
}

// A stream is the receiving end of a stream of the peer's.
type stream struct {
	framing.Scanner
	ended bool
}

var (
	_ wireup.Endpoint = (*Endpoint)(nil)
	_ btl.Aborter     = (*Endpoint)(nil)
	_ btl.Reporter    = (*Endpoint)(nil)

	errBehind    = errors.New("bytes behind a goodbye")
	errNoGoodbye = fmt.Errorf("the peer has closed the connection %w", wireup.ErrNoGoodbye)
)

// Start implements [wireup.Endpoint] for a link of one stream.
func (e *Endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) error {
	e.Begin(l, first, peer, 1)
	return nil
}

// Begin takes over a link whose peer has so many streams. The first is read and written
// already. The caller begins to read and write the others before Start returns ([Link.Read],
// [Link.Write]).
func (e *Endpoint) Begin(l wireup.Link, first []byte, peer wireup.Greeting, streams int) {
	e.link = l.(interface{ streams() *Link }).streams()
	e.link.ep = e
	e.link.queues[0].Say(first)
	e.in = make([]stream, streams)
	for i := range e.in {
		e.in[i].Start(e.Recv, peer.MaxFrame, nil)
	}
}

// Send implements [btl.Endpoint].
func (e *Endpoint) Send(f *btl.Frame, lane int) btl.Result {
	if !e.Live() {
		return e.Connect()
	}
	if e.queue(lane).Send(f) == btl.Busy {
		return e.Refuse()
	}
	e.counters.FramesSent++
	e.counters.BytesSent += uint64(framing.Size(f))
	return btl.Done
}

// queue is that of a lane's stream.
func (e *Endpoint) queue(lane int) *Queue {
	queues := e.link.queues
	if lane >= btl.UrgentLane || len(queues) == 1 {
		return queues[0]
	}
	return queues[1+lane%(len(queues)-1)]
}

// arrived takes what has come in one of the peer's streams.
func (e *Endpoint) arrived(from *stream, b []byte, err error) {
	e.counters.BytesReceived += uint64(len(b))
	if from.ended {
		if len(b) > 0 {
			e.Malformed(errBehind)
		} else if !errors.Is(err, io.EOF) {
			e.link.Ended(err)
		}
		return
	}
	bad := from.Feed(b)
	switch {
	case !e.Live(): // an up-call has closed it
	case errors.Is(bad, btl.ErrPeerClosed):
		from.ended = true
		if e.ended++; e.ended == len(e.in) {
			e.Goodbye()
		}
	case bad != nil:
		e.Malformed(bad)
	case err != nil:
		e.link.Ended(err)
	}
}

// Detach implements [wireup.Endpoint].
func (e *Endpoint) Detach(how wireup.End) {
	for i := range e.in {
		e.in[i].Stop(how == wireup.Lost)
	}
	if how == wireup.Leaves {
		e.link.Leave(nil)
	} else {
		e.link.Abort()
	}
}

// Report implements [btl.Reporter].
func (e *Endpoint) Report() btl.Report {
	report, c := e.Conn.Report(), e.counters
	for i := range e.in {
		c.FramesReceived += e.in[i].Frames()
	}
	report.Counters = &c
	return report
}
