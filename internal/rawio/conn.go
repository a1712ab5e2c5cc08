package rawio

import "syscall"

// A Conn is a connected, non-blocking stream socket. Its methods may be called
// by one goroutine at a time.
type Conn struct {
	fd    int
	order order
}

// NewConn wraps a connected descriptor. It does not take it over: [Close]
// closes it.
func NewConn(fd int) Conn { return Conn{fd: fd, order: newOrder(fd)} }

// FD returns the descriptor.
func (c *Conn) FD() int { return c.fd }

// Recv reads at most len(b) bytes; b must not be empty. No bytes and no errno
// mean the end of the stream. EAGAIN means that there is nothing to read now.
// EINTR is never returned.
func (c *Conn) Recv(b []byte) (int, syscall.Errno) {
	n, errno := recv(c.fd, b)
	if errno == 0 {
		c.order.received(b[:n])
	}
	return n, errno
}

// Send writes at most len(b) bytes and returns how many the system took; b must
// not be empty. EAGAIN means that there is no room now. EPIPE comes as an errno and
// never as a signal. EINTR is never returned.
func (c *Conn) Send(b []byte) (int, syscall.Errno) {
	c.order.sending()
	n, errno := send(c.fd, b)
	if errno == 0 {
		c.order.sent(b[:n])
	}
	return n, errno
}

// Sendv writes the bytes that v holds, in order, and returns how many the
// system took. Errnos are those of [Conn.Send].
func (c *Conn) Sendv(v *Vector) (int, syscall.Errno) {
	c.order.sending()
	n, errno := sendv(c.fd, v)
	if raceEnabled && errno == 0 {
		v.each(n, c.order.sent)
	}
	return n, errno
}
