package unixsock

import (
	"errors"
	"fmt"
	"io"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is the connection to one peer.
type endpoint struct {
	wireup.Conn
	link    *link
	scanner framing.Scanner
	refused bool // Busy was returned and Writable is due
}

var _ btl.Aborter = (*endpoint)(nil)

// Send implements [btl.Endpoint].
func (e *endpoint) Send(f *btl.Frame, _ int) (r btl.Result) {
	if e.Live() {
		r = e.link.out.Send(f)
	} else {
		r = e.Connect()
	}
	e.refused = e.refused || r == btl.Busy
	return r
}

// Prepare implements [wireup.Endpoint].
func (e *endpoint) Prepare(l wireup.Link) { e.link = l.(*link) }

// Addresses implements [wireup.Endpoint].
func (e *endpoint) Addresses() (local, remote string) {
	local, remote = e.link.Addresses()
	if e.Accepted() {
		remote = fmt.Sprintf("rank %d", e.Rank())
	}
	return local, remote
}

// Start implements [wireup.Endpoint].
func (e *endpoint) Start(_ wireup.Link, first []byte, peer wireup.Greeting) error {
	e.link.ep = e
	e.link.out.Say(first)
	e.scanner.Start(e.Recv, peer.MaxFrame, nil)
	return nil
}

// Ready implements [wireup.Endpoint].
func (e *endpoint) Ready() {
	if e.refused {
		e.refused = false
		e.Recv.Writable()
	}
}

// InFlight implements [wireup.Endpoint].
func (e *endpoint) InFlight() int { return -1 }

// Detach implements [wireup.Endpoint].
func (e *endpoint) Detach(how wireup.End) {
	e.scanner.Stop(how == wireup.Lost)
	if how == wireup.Leaves {
		e.link.Leave(framing.AppendGoodbye(nil))
	} else {
		e.link.Abort()
	}
}

// arrived takes what has been read, and the reason why there is no more.
func (e *endpoint) arrived(b []byte, err error) {
	if bad := e.scanner.Feed(b); bad != nil {
		err = bad
	}
	switch {
	case err == nil || !e.Live(): // an up-call may have closed it
	case errors.Is(err, io.EOF):
		e.Malformed(fmt.Errorf("the peer has closed the connection %w", wireup.ErrNoGoodbye))
	default:
		e.Malformed(err) // or a goodbye
	}
}
