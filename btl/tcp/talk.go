package tcp

import (
	"errors"
	"io"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// A talk is a socket before an endpoint has it: while it is being connected, and during the
// handshake.
type talk struct {
	m       *module
	pending *wireup.Pending
	conn    rawio.Conn
	watch   btl.Watch
	out     []byte // still to be sent

	pair   wireup.Pair    // of an attempt of ours
	dialed bool           // this is an attempt of ours
	again  btl.Timer      // takes another socket for it, or looks at the one that is connected
	from   netip.AddrPort // where somebody else connects from
	ready  bool           // connected, and the socket's options are set
}

var _ wireup.Link = (*talk)(nil)

// Dial implements [wireup.Transport].
func (m *module) Dial(p *wireup.Pending, way wireup.Way) (wireup.Link, error) {
	t := &talk{m: m, pending: p, pair: way.(wireup.Pair), dialed: true}
	if err := t.connect(); err != nil {
		return nil, err
	}
	t.insist(firstAnswer)
	return t, nil
}

// firstAnswer is how long the peer's system may take to answer before another socket asks it. The system asks again by
// itself, but after one second, three, seven and so on: a network that has come back is found late by it. Each further
// socket has twice as long, for ways that take that long.
const firstAnswer = 300 * time.Millisecond

// insist has another socket begin anew if there is no answer within d.
func (t *talk) insist(d time.Duration) {
	t.again = t.m.loop.After(d, func() {
		fd, watch := t.conn.FD(), t.watch
		if t.connect() == nil { // else the first one goes on
			watch.Stop()
			rawio.Close(fd)
		}
		t.insist(2 * d)
	})
}

// connect begins to connect a socket, which is the attempt's from then on.
func (t *talk) connect() error {
	m, to := t.m, t.pair
	fd, err := rawio.Stream(to.Target())
	if err != nil {
		return err
	}
	m.straits.limit(fd, to.Target().Addr())
	if err = m.tune(fd, m.Nearby(to)); err == nil {
		err = t.connectSocket(fd)
	}
	var watch btl.Watch
	if err == nil {
		watch, err = m.loop.Watch(fd, t)
	}
	if err != nil {
		rawio.Close(fd)
		return err
	}
	watch.Write(true) // a connected socket is writable
	t.conn, t.watch = rawio.NewConn(fd), watch
	return nil
}

// connectSocket begins to connect a socket. If our address has gone it is done from the one that has taken its place: the peer learns by
// the handshake who it is.
func (t *talk) connectSocket(fd int) error {
	_, err := rawio.Connect(fd, t.pair.Source(), t.pair.Target())
	if !errors.Is(err, syscall.EADDRNOTAVAIL) {
		return err
	}
	now, ok := t.m.Local.Successor(t.pair.Local)
	if !ok {
		return err
	}
	t.pair.Local = now
	_, err = rawio.Connect(fd, t.pair.Source(), t.pair.Target())
	return err
}

// answered ends what insist has begun, or looks.
func (t *talk) answered() {
	if t.again != nil {
		t.again.Stop()
		t.again = nil
	}
}

// welcome takes in a connection that somebody has made. Until something arrives on it, the
// connection costs no more than its descriptor and its place on a list.
func (m *module) welcome(fd int, from netip.AddrPort) {
	t := &talk{m: m, conn: rawio.NewConn(fd), from: from}
	var err error
	if t.watch, err = m.loop.Watch(fd, t); err != nil {
		m.Wire.Stray(btl.LogWarn, from.String(), err)
		t.Abort()
		return
	}
	t.pending = m.Wire.Came(t, netip.AddrPortFrom(from.Addr(), 0))
}

// Poll implements [btl.Handler].
func (t *talk) Poll(writable bool) bool {
	if t.watch == nil {
		return false
	}
	if !t.ready {
		if t.dialed && !writable {
			return false
		}
		if err := t.prepare(); err != nil {
			t.pending.Ended(err)
			return true
		}
		if t.dialed {
			return true
		}
	}
	if writable {
		if err := t.flush(); err != nil {
			t.pending.Ended(err)
			return true
		}
	}
	return t.listen()
}

// prepare is called once: when an attempt of ours is connected, or when the first bytes of a
// stranger are there. A stranger's socket is tuned only then, so that a silent one costs less.
func (t *talk) prepare() error {
	t.ready = true
	t.answered()
	fd := t.conn.FD()
	if !t.dialed {
		return t.m.tune(fd, t.m.Local.Nearby(t.from.Addr()))
	}
	if err := rawio.SocketError(fd); err != nil {
		return err
	}
	t.conn = rawio.NewConn(fd) // now that both addresses are known
	if !t.m.Nearby(t.pair) {
		t.again = t.m.loop.After(lookAfter, t.look)
	}
	t.pending.Up()
	return nil
}

// readsPerPoll bounds the reads of a handshake in one poll: whoever says something on and on is no peer yet. It is more than a handshake takes.
const readsPerPoll = 16

// listen reads what has come, until the handshake is over.
func (t *talk) listen() bool {
	did := false
	for reads := 0; t.watch != nil && reads < readsPerPoll; reads++ {
		b := t.m.scratch[:t.pending.Need()]
		n, errno := t.conn.Recv(b)
		switch {
		case errno == syscall.EAGAIN:
			return did
		case errno != 0:
			t.pending.Ended(errno)
		case n == 0:
			t.pending.Ended(io.EOF)
		default:
			t.pending.Bytes(b[:n])
		}
		did = true
	}
	return did
}

// Send implements [wireup.Link].
func (t *talk) Send(b []byte) error {
	t.out = append(t.out, b...)
	return t.flush()
}

// flush writes what is waiting as far as there is room.
func (t *talk) flush() error {
	for len(t.out) > 0 {
		n, errno := t.conn.Send(t.out)
		if errno == syscall.EAGAIN {
			t.watch.Write(true)
			return nil
		}
		if errno != 0 {
			return errno
		}
		t.out = t.out[n:]
	}
	t.out = nil
	t.watch.Write(false)
	return nil
}

// Addresses implements [wireup.Link].
func (t *talk) Addresses() (local, remote string) {
	remote = t.from.String()
	if t.dialed {
		remote = t.Target().String()
	}
	return rawio.LocalAddr(t.conn.FD()).String(), remote
}

// Target implements [wireup.Link].
func (t *talk) Target() netip.AddrPort { return t.pair.Target() }

// release ends the watch and gives the socket away.
func (t *talk) release() rawio.Conn {
	t.answered()
	if t.watch != nil {
		t.watch.Stop()
		t.watch = nil
	}
	return t.conn
}

// Abort implements [wireup.Link].
func (t *talk) Abort() {
	c := t.release()
	rawio.Close(c.FD())
}

// Leave implements [wireup.Link].
func (t *talk) Leave(b []byte) { t.m.leave(t.release(), append(t.out, b...)) }
