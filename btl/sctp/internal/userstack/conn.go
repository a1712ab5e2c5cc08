package userstack

import (
	"net"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// A conn is what pion takes for a connection: packets that the engine has sorted
// out come from a ring, packets to the peer go to the socket.
type conn struct {
	a *association

	mu     sync.Mutex
	filled sync.Cond
	ring   ring
	err    error // once nothing more will come

	handled atomic.Uint64 // packets that pion has worked off
	sent    atomic.Uint64
	taken   uint64 // by pion's reader
	resend  resend
	urge    urge
	again   again
}

func newConn(a *association) *conn {
	c := &conn{a: a, resend: resend{highest: a.ours.tsn - 1}}
	c.filled.L = &c.mu
	return c
}

// push gives pion a packet and reports whether there was room.
func (c *conn) push(b []byte) bool {
	c.mu.Lock()
	if c.err != nil {
		c.mu.Unlock()
		return true // nobody reads the ring any more, so nobody may wait for room in it
	}
	ok := c.ring.push(b)
	c.mu.Unlock()
	if ok {
		c.a.pushed++
		c.a.s.kicked = yields
		c.filled.Signal()
	}
	return ok
}

// end lets pion's reader leave once it has handled what is in the ring.
func (c *conn) end(err error) {
	c.mu.Lock()
	if c.err == nil {
		c.err = err
	}
	c.mu.Unlock()
	c.filled.Broadcast()
}

// Read implements [net.Conn] for pion's reader, which comes for the next packet
// when it has worked off the one before.
func (c *conn) Read(b []byte) (int, error) {
	c.handled.Store(c.taken)
	if c.taken > 0 {
		c.a.news()
	}
	n, err := c.next(b)
	if err != nil {
		c.a.left.Store(true)
		c.a.news()
	}
	return n, err
}

// next waits for a packet, or for the end behind the last one.
func (c *conn) next(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for c.ring.empty() {
		if c.err != nil {
			return 0, c.err
		}
		c.filled.Wait()
	}
	c.taken++
	return c.ring.pop(b), nil
}

// Write implements [net.Conn] for pion's writer. What the network does not take is
// lost, and pion sends it again.
func (c *conn) Write(b []byte) (int, error) {
	a := c.a
	if a.severed.Load() {
		return len(b), nil
	}
	if chunk := first(b); len(chunk) == chunkHead && chunk[0] == chunkHeartbeat {
		return len(b), nil // malformed: kernels abort for it, and beat.go sends better ones
	}
	c.sent.Add(1)
	fresh, old := c.resend.look(b)
	c.urge.sent += uint64(fresh)
	blocked := c.ask(b, old)
	if old {
		c.again.keep(b, c.resend.tsns, monotonic())
	} else if blocked {
		c.again.keepTail(b, c.resend.tsns, monotonic())
	}
	if (old || blocked) && !a.tending.Load() {
		a.news()
	}
	a.so.give(b, &a.to, true)
	return len(b), nil
}

// Close implements [net.Conn]: pion has ended the association, or was told to.
func (c *conn) Close() error {
	c.end(net.ErrClosed)
	c.a.left.Store(true)
	c.a.news()
	return nil
}

// LocalAddr implements [net.Conn].
func (c *conn) LocalAddr() net.Addr { return net.UDPAddrFromAddrPort(c.a.so.local) }

// RemoteAddr implements [net.Conn].
func (c *conn) RemoteAddr() net.Addr { return net.UDPAddrFromAddrPort(c.a.remote) }

// SetDeadline implements [net.Conn].
func (c *conn) SetDeadline(t time.Time) error { return c.SetReadDeadline(t) }

// SetReadDeadline implements [net.Conn]. Pion sets one that is past to get its
// reader back, and no other.
func (c *conn) SetReadDeadline(t time.Time) error {
	if !t.IsZero() && !time.Now().Before(t) {
		c.end(os.ErrDeadlineExceeded)
	}
	return nil
}

// SetWriteDeadline implements [net.Conn]: writing does not wait.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
