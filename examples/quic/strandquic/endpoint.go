package strandquic

import (
	"context"
	"io"
	"sync"

	"github.com/strandmp/strand/handoff"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is the connection to one peer.
type endpoint struct{ handoff.Endpoint }

// Start implements [wireup.Endpoint]: each side opens a stream for each of its lanes.
func (e *endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) error {
	link, lanes := l.(*link), int(peer.Own[0])
	if link.heard != nil {
		link.heard()
	}
	e.Begin(l, first, peer, 1+lanes)
	conn, accept := link.conn, oneByOne(link.conn.AcceptUniStream)
	for i := range lanes {
		link.Read(1+i, func() (io.Reader, error) { return accept(conn.Context()) })
	}
	for i := range link.m.lanes {
		stream, err := conn.OpenUniStream()
		if err != nil {
			return err
		}
		link.Write(1+i, stream, stream.Close)
	}
	return nil
}

// oneByOne has one caller at a time accept. Where several wait, quic-go may wake one alone for streams that come together: what is in the
// others is then not read before one more comes.
func oneByOne[T any](accept func(context.Context) (T, error)) func(context.Context) (T, error) {
	var mu sync.Mutex
	return func(ctx context.Context) (T, error) {
		mu.Lock()
		defer mu.Unlock()
		return accept(ctx)
	}
}
