package handoff

import (
	"context"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/framing"
	"github.com/strandmp/strand/wireup"
)

const (
	// readSize is how much of a stream is read at a time, in bytes.
	readSize = 32 << 10
	// lingers is how long a closed connection may take to send its last bytes. That holds while
	// the module closes too, since only this process can send lost bytes again. A peer that has
	// them, or has gone, ends the wait sooner.
	lingers = 2 * time.Second
	// patience is how long the reader may take to notice that the connection is broken, once the
	// writer has noticed. The reader first shows all that has still come, which may end with a
	// goodbye.
	patience = time.Second
)

// A Link is a connection that goroutines read and write, or an attempt at one: of one stream in
// each direction, or of several. The first carries the handshake. A transport's link embeds it,
// and adds what makes the connection, Addresses and Target. It then implements [wireup.Link].
//
// A Link belongs to the loop, with one exception: the goroutine of Read that accepts the first
// stream may call Write for it.
type Link struct {
	group   *Group
	pending *wireup.Pending // until it is an endpoint's
	ep      *Endpoint
	explain func(error) error
	ctx     context.Context
	cancel  context.CancelFunc

	bound   *Bound
	queues  []*Queue           // of our streams
	readers sync.WaitGroup     // until all of the peer's streams have ended
	hangUp  func(inOrder bool) // nil until there is a connection
}

// Init prepares the link of an attempt or of a visitor. At most limit bytes wait to be written.
func (l *Link) Init(g *Group, limit int) {
	l.group = g
	l.ctx, l.cancel = context.WithCancel(g.Context())
	l.bound = NewBound(g, limit, l.roomy)
	l.queues = []*Queue{NewQueue(l.bound)}
}

// Context ends when nothing is to be heard any more. Attempts to connect end with it.
func (l *Link) Context() context.Context { return l.ctx }

// ReportTo says who is told what happens, until the link is an endpoint's.
func (l *Link) ReportTo(p *wireup.Pending) { l.pending = p }

// Connected notes that there is a connection. HangUp is called once, in a goroutine of its own, to
// end it: in order if the peer has ended its streams too, otherwise at once. Explain translates an
// error of the connection; nil leaves errors as they are.
func (l *Link) Connected(hangUp func(inOrder bool), explain func(error) error) {
	l.hangUp, l.explain = hangUp, explain
}

// Read reads the peer's i-th stream in a goroutine. The goroutine first calls open, which may
// block. When nobody wants the bytes any more they are read until the stream's end and forgotten.
func (l *Link) Read(i int, open func() (io.Reader, error)) {
	l.readers.Add(1)
	l.group.Go(func() {
		defer l.readers.Done()
		s, err := open()
		if err != nil {
			l.group.Do(l.ctx, func() { l.heard(i, nil, err) })
			return
		}
		l.group.Read(l.ctx, s, readSize, func(b []byte, err error) { l.heard(i, b, err) })
		_, _ = io.Copy(io.Discard, s)
	})
}

// Write writes our i-th stream in a goroutine. When the link leaves, the goroutine calls end.
func (l *Link) Write(i int, stream io.Writer, end func() error) {
	if i == len(l.queues) {
		l.queues = append(l.queues, NewQueue(l.bound))
	}
	q := l.queues[i]
	l.group.Go(func() {
		switch err := q.Write(stream); {
		case err == nil:
			_ = end() // a failure shows at the reader
		case !errors.Is(err, btl.ErrClosed):
			limit, cancel := context.WithTimeout(l.ctx, patience)
			defer cancel()
			<-limit.Done()
			l.group.Do(l.ctx, func() { l.Ended(err) })
		}
	})
}

// heard takes what has come in the peer's i-th stream.
func (l *Link) heard(i int, b []byte, err error) {
	if l.ep == nil {
		b = l.pending.Take(b)
	}
	switch {
	case l.ctx.Err() != nil:
	case l.ep != nil:
		l.ep.arrived(&l.ep.in[i], b, err)
	case err != nil:
		l.Ended(err)
	}
}

// Ended tells that the connection is broken, or never came to be, or that the peer has closed
// it ([btl.ErrPeerClosed]).
func (l *Link) Ended(err error) {
	if l.explain != nil {
		err = l.explain(err)
	}
	switch {
	case l.ctx.Err() != nil: // it is over
	case l.ep == nil:
		l.pending.Ended(err)
	case errors.Is(err, io.EOF), errors.Is(err, btl.ErrPeerClosed): // only goodbyes make an end orderly
		l.ep.Malformed(errNoGoodbye)
	default:
		l.ep.Malformed(err)
	}
}

func (l *Link) roomy() {
	if l.ep != nil && l.ep.Live() {
		l.ep.Ready()
	}
}

// Send implements [wireup.Link].
func (l *Link) Send(b []byte) error {
	l.queues[0].Say(b)
	return nil
}

// Abort implements [wireup.Link].
func (l *Link) Abort() {
	l.cancel()
	l.cut()
	if hangUp := l.hangUp; hangUp != nil {
		l.group.Go(func() { hangUp(false) })
	}
}

func (l *Link) cut() {
	for _, q := range l.queues {
		q.Cut()
	}
}

// Leave implements [wireup.Link]. The connection is ended when the peer has ended its streams too,
// or when the time is over.
func (l *Link) Leave(b []byte) {
	l.queues[0].Say(b)
	for _, q := range l.queues {
		if l.ep != nil {
			q.Say(framing.AppendGoodbye(nil))
		}
		q.End()
	}
	l.cancel()
	quiet := make(chan struct{})
	l.group.Go(func() { l.readers.Wait(); close(quiet) })
	l.group.Go(func() {
		limit, cancel := context.WithTimeout(context.Background(), lingers)
		defer cancel()
		inOrder := false // bytes that the peer has not read may be lost
		select {
		case <-quiet:
			inOrder = true
		case <-limit.Done():
		}
		l.hangUp(inOrder)
		l.cut()
	})
}

func (l *Link) streams() *Link { return l }
