package unixsock

import (
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is the connection to one peer.
type endpoint struct {
	wireup.Conn
	m       *module
	link    *link
	refused bool        // Busy was returned and Writable is due
	full    atomic.Bool // tells the writer to say when there is room
}

// Send implements [btl.Endpoint].
func (e *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	if !e.Live() {
		r := e.Connect()
		e.refused = e.refused || r == btl.Busy
		return r
	}
	if !e.room() {
		// The writer looks at full after it has made room; so if there is none now it will
		// see it.
		e.full.Store(true)
		if !e.room() {
			e.refused = true
			return btl.Busy
		}
	}
	e.link.out <- encode(f) // does not block: nobody else sends to it
	return btl.Done
}

// room reports whether another frame, and a goodbye, may be queued.
func (e *endpoint) room() bool { return len(e.link.out)+1 < cap(e.link.out) }

// waiting reports, to the writer, whether somebody waits for room.
func (l *link) waiting() bool { e := l.of.Load(); return e != nil && e.full.Swap(false) }

func (l *link) roomy() {
	if l.ep != nil && l.ep.Live() {
		l.ep.Ready()
	}
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
func (e *endpoint) Start(_ wireup.Link, first []byte, _ wireup.Greeting) error {
	l := e.link
	l.ep = e
	l.of.Store(e)
	close(l.want) // frames follow
	if len(first) > 0 {
		return l.Send(first)
	}
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
	if how == wireup.Leaves {
		e.link.Leave(goodbye)
	} else {
		e.link.Abort()
	}
}

// arrived takes a frame, or the reason why there are no more.
func (e *endpoint) arrived(header, payload []byte, err error) {
	if errors.Is(err, btl.ErrPeerClosed) {
		e.Goodbye()
		return
	}
	if err == nil {
		err = e.Recv.Deliver(header, payload)
	}
	if err != nil {
		e.Malformed(err)
	}
}
