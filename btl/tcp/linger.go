package tcp

import (
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

const (
	// lingerTime is how long a closed connection may take to send its last
	// bytes and to hear the peer's end.
	lingerTime = 2 * time.Second
	// farewell is how long closing the module waits for all of them.
	farewell = 250 * time.Millisecond
)

// A linger is a connection after its endpoint: it sends the last bytes and then
// reads, into nowhere, until the peer's end. Closing a socket with unread bytes
// in it would reset the connection and might destroy our own last bytes on the
// way.
type linger struct {
	m     *module
	conn  rawio.Conn
	watch btl.Watch
	timer btl.Timer
	out   []byte
	shut  bool
}

// leave lets a connection end in order after out, of which the linger becomes
// the owner.
func (m *module) leave(conn rawio.Conn, out []byte) {
	l := &linger{m: m, conn: conn, out: out}
	m.leaving[l] = struct{}{}
	var err error
	if l.watch, err = m.loop.Watch(conn.FD(), l); err != nil {
		l.watch = nil
		l.finish()
		return
	}
	l.timer = m.loop.After(lingerTime, l.finish)
	l.work()
}

// Poll implements [btl.Handler].
func (l *linger) Poll(bool) bool { return l.work() }

// work sends and reads what is possible and reports whether anything was done.
func (l *linger) work() bool {
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
			l.finish()
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
			l.finish()
			return true
		}
		did = true
	}
	return did
}

// confirmed reports whether the peer's system has all that we have sent: the
// connection may go then.
func (l *linger) confirmed() bool {
	return l.shut && rawio.Unacknowledged(l.conn.FD()) == 0
}

func (l *linger) finish() {
	if _, ok := l.m.leaving[l]; !ok {
		return
	}
	delete(l.m.leaving, l)
	if l.timer != nil {
		l.timer.Stop()
	}
	if l.watch != nil {
		l.watch.Stop()
		l.watch = nil
	}
	rawio.Close(l.conn.FD())
}

// finishLeaving ends all lingering connections: each when the peer's system has
// confirmed our last bytes or the peer has ended too, all after a short while.
func (m *module) finishLeaving() {
	// The loop does not run during the call, so this has a clock of its own.
	for deadline := time.Now().Add(farewell); len(m.leaving) > 0; {
		var fds []int
		for l := range m.leaving {
			l.work()
			if l.confirmed() {
				l.finish()
			}
		}
		for l := range m.leaving {
			fds = append(fds, l.conn.FD())
		}
		if len(fds) == 0 {
			return
		}
		if time.Now().After(deadline) {
			break
		}
		// A confirmation makes nothing readable, so the wait is a short one.
		rawio.WaitAny(fds, 1)
	}
	for l := range m.leaving {
		l.finish()
	}
}
