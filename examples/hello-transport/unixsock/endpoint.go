package unixsock

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
)

// state of an endpoint. It only ever grows.
type state uint8

const (
	idle state = iota // not sent to yet
	connecting
	up
	ended
)

// An endpoint is the connection to one peer. It belongs to the loop, but for
// what its two goroutines are given.
type endpoint struct {
	m      *module
	rank   int
	host   string
	name   string // of the peer's socket
	recv   btl.Receiver
	state  state
	busy   bool // Send has said so
	cancel context.CancelFunc

	conn    net.Conn
	out     chan []byte   // what is to be written
	waiting atomic.Bool   // tells the writer to say when there is room
	over    chan struct{} // closed when nothing is to be delivered any more
}

// Desc implements [btl.Endpoint].
func (e *endpoint) Desc() string { return e.m.listener.Addr().String() + " ↔ " + e.name }

// Send implements [btl.Endpoint].
func (e *endpoint) Send(f *btl.Frame, _ int) btl.Result {
	switch e.state {
	case idle:
		e.connect()
		fallthrough
	case connecting:
		e.busy = true
		return btl.Busy
	case ended:
		return btl.Broken
	}
	if len(e.out) == cap(e.out) {
		// The writer looks at waiting after it has made room; so if there is none
		// now it will see it.
		e.waiting.Store(true)
		if len(e.out) == cap(e.out) {
			e.busy = true
			return btl.Busy
		}
	}
	e.out <- encode(f) // does not block: nobody else sends to it
	return btl.Done
}

// connect dials, off the loop.
func (e *endpoint) connect() {
	m, c := e.m, e.m.credentials()
	ctx, cancel := context.WithTimeout(m.ending, c.timeout)
	e.state, e.cancel = connecting, cancel
	m.running.Go(func() {
		conn, hello, err := m.dial(ctx, c, e.name, e.rank)
		m.host.Loop().Post(func() { e.dialled(conn, hello, err) })
	})
}

func (e *endpoint) dialled(conn net.Conn, hello []byte, err error) {
	switch {
	case e.state != connecting: // closed, or the peer has connected meanwhile
		if conn != nil {
			e.m.conns.drop(conn)
		}
	case err != nil:
		e.fail("connecting", err)
	default:
		e.start(conn, nil, hello)
	}
}

// start makes the endpoint one over conn, on which first is still to be said.
func (e *endpoint) start(conn net.Conn, first, hello []byte) {
	m := e.m
	e.stopDialling()
	_ = conn.SetDeadline(time.Time{}) // if it is closed, who reads or writes will see
	e.state, e.conn = up, conn
	e.out = make(chan []byte, m.host.Params().Int(pQueue))
	e.over = make(chan struct{})
	out := e.out
	m.writers.Go(func() { e.write(conn, first, out) })
	m.running.Go(func() { e.read(conn) })
	e.recv.Up(hello)
	e.writable()
}

func (e *endpoint) stopDialling() {
	if e.cancel != nil {
		e.cancel()
		e.cancel = nil
	}
}

// writable passes on that there is room again.
func (e *endpoint) writable() {
	if e.state == up && e.busy {
		e.busy = false
		e.recv.Writable()
	}
}

// write is the goroutine that writes. The queue's end is the endpoint's. If the
// connection breaks the reader will say so, after all that has still come.
func (e *endpoint) write(conn net.Conn, first []byte, out <-chan []byte) {
	_, err := conn.Write(first)
	for err == nil {
		b, more := <-out
		if !more {
			_, _ = conn.Write(goodbye)
			return
		}
		if e.waiting.Swap(false) {
			e.m.host.Loop().Post(e.writable)
		}
		_, err = conn.Write(b)
	}
}

// read is the goroutine that reads, and closes the connection in the end.
func (e *endpoint) read(conn net.Conn) {
	defer e.m.conns.drop(conn)
	r := bufio.NewReaderSize(conn, 16<<10)
	buf := make([]byte, btl.MaxHeader+maxFrame)
	delivered := make(chan struct{}, 1)
	for {
		header, payload, err := readFrame(r, buf)
		if err != nil {
			e.m.host.Loop().Post(func() { e.fail("receiving", err) })
			return
		}
		e.m.host.Loop().Post(func() {
			e.deliver(header, payload)
			delivered <- struct{}{}
		})
		select {
		case <-delivered:
		case <-e.over:
			// Closed on this side: until the peer has done so too, or the farewell
			// is over, the connection is the writer's.
			_, _ = io.Copy(io.Discard, r)
			return
		}
	}
}

func (e *endpoint) deliver(header, payload []byte) {
	if e.state != up {
		return
	}
	if err := e.recv.Deliver(header, payload); err != nil {
		e.fail("receiving", err)
	}
}

// fail ends the endpoint and tells the host.
func (e *endpoint) fail(phase string, err error) {
	if e.state == ended {
		return
	}
	conn := e.conn
	e.finish()
	if conn != nil {
		e.m.conns.drop(conn)
	}
	if !errors.Is(err, btl.ErrPeerClosed) {
		err = &btl.ConnError{Transport: "unix", Rank: e.m.host.Rank(), Peer: e.rank, PeerHost: e.host,
			Local: e.m.listener.Addr().String(), Remote: e.name, Phase: phase, InFlight: -1, Err: err}
	}
	e.recv.Down(err)
}

// Close implements [btl.Endpoint].
func (e *endpoint) Close() error {
	e.end()
	return nil
}

// end has the writer send what is queued, and a goodbye.
func (e *endpoint) end() {
	if e.state == ended {
		return
	}
	if e.conn != nil {
		_ = e.conn.SetDeadline(time.Now().Add(farewell))
	}
	e.finish()
}

// finish ends everything but the goroutines, which find out.
func (e *endpoint) finish() {
	if e.state == up {
		close(e.out)
		close(e.over)
	}
	e.state, e.conn = ended, nil
	e.stopDialling()
	if e.m.peers[e.rank] == e {
		delete(e.m.peers, e.rank)
	}
}
