package tcp

import (
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

// A linger is a connection after its endpoint. It sends the last bytes, and reads
// and throws away what comes, until the peer's end: to close a socket with unread
// bytes in it would reset the connection, and might destroy our own last bytes on
// their way.
type linger struct {
	m     *module
	conn  rawio.Conn
	watch btl.Watch
	out   []byte
	shut  bool
}

var _ wireup.Leaver = (*linger)(nil)

// leave lets a connection end in order, after out. The linger owns out from now on.
func (m *module) leave(conn rawio.Conn, out []byte) {
	l := &linger{m: m, conn: conn, out: out}
	m.Wire.Leave(l)
	var err error
	if l.watch, err = m.loop.Watch(conn.FD(), l); err != nil {
		l.watch = nil
		m.Wire.Left(l)
		return
	}
	l.Work()
}

// Poll implements [btl.Handler].
func (l *linger) Poll(bool) bool { return l.Work() }

// Work implements [wireup.Leaver].
func (l *linger) Work() bool {
	if l.watch == nil {
		return false
	}
	return l.send() || l.drain()
}

// send reports whether the linger has come to its end.
func (l *linger) send() bool {
	for len(l.out) > 0 {
		n, errno := l.conn.Send(l.out)
		if errno == syscall.EAGAIN {
			l.watch.Write(true)
			return false
		}
		if errno != 0 {
			l.m.Wire.Left(l)
			return true
		}
		l.out = l.out[n:]
	}
	if !l.shut {
		l.shut = true
		l.watch.Write(false)
		rawio.ShutdownWrite(l.conn.FD())
	}
	return false
}

func (l *linger) drain() bool {
	const enough = 16 // reads a poll, for the sake of others
	did := false
	for range enough {
		n, errno := l.conn.Recv(l.m.scratch)
		if errno == syscall.EAGAIN {
			return did
		}
		if errno != 0 || n == 0 {
			l.m.Wire.Left(l)
			return true
		}
		did = true
	}
	return did
}

// Confirmed implements [wireup.Leaver].
func (l *linger) Confirmed() bool {
	return l.shut && rawio.Unacknowledged(l.conn.FD()) == 0
}

// End implements [wireup.Leaver].
func (l *linger) End() {
	if l.watch != nil {
		l.watch.Stop()
		l.watch = nil
	}
	rawio.Close(l.conn.FD())
}
