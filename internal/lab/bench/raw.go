package bench

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/launch"
)

// rawTraffic is the floor that everything else stands on: two processes, one
// connection, no headers, no matching. A reader spins on a non-blocking socket;
// a message is one write. No library can be faster that makes a system call for
// each message and leaves the waiting to a spinning processor.
type rawTraffic struct {
	link      rawLink
	first     bool
	everybody func() error // returns when all pairs have come here; nil: there is one pair
	buf       []byte
}

// A rawLink carries messages whose length the receiver knows.
type rawLink interface {
	send(b []byte) error
	recv(b []byte) error
}

// rawSocket is a connection whose reader spins. Where there are more processes than processors it
// must let the others in.
type rawSocket struct {
	conn   rawio.Conn
	yields bool
}

var errRawEnded = errors.New("raw: the other process has closed the connection")

func (r *rawTraffic) run(_ context.Context, o Order) (spent, error) {
	o.Size = max(o.Size, 1) // a stream of bytes has no empty messages
	if len(r.buf) < o.Size {
		r.buf = pages(o.Size)
	}
	round := r.roundOf(o.Workload)
	return o.rounds(r.meet, func() error { return round(o) })
}

// meet returns when the others have come here too.
func (r *rawTraffic) meet() error {
	if r.everybody != nil {
		return r.everybody()
	}
	if err := r.link.send(r.buf[:1]); err != nil {
		return err
	}
	return r.link.recv(r.buf[:1])
}

func (r *rawTraffic) roundOf(w Workload) func(Order) error {
	switch {
	case w == PingPong && r.first:
		return r.ping
	case w == PingPong:
		return r.pong
	case w == Exchange:
		return r.exchange
	case r.first:
		return r.sendWindow
	}
	return r.receiveWindow
}

func (r *rawTraffic) ping(o Order) error {
	if err := r.link.send(r.buf[:o.Size]); err != nil {
		return err
	}
	return r.link.recv(r.buf[:o.Size])
}

func (r *rawTraffic) pong(o Order) error {
	if err := r.link.recv(r.buf[:o.Size]); err != nil {
		return err
	}
	return r.link.send(r.buf[:o.Size])
}

// exchanged is how much each side sends before it receives as much: it has room in any socket.
const exchanged = 32 << 10

func (r *rawTraffic) exchange(o Order) error {
	for at := 0; at < o.Size; at += exchanged {
		part := r.buf[at:min(at+exchanged, o.Size)]
		if err := r.link.send(part); err != nil {
			return err
		}
		if err := r.link.recv(part); err != nil {
			return err
		}
	}
	return nil
}

func (r *rawTraffic) sendWindow(o Order) error {
	for range o.Window {
		if err := r.link.send(r.buf[:o.Size]); err != nil {
			return err
		}
	}
	return r.link.recv(r.buf[:1])
}

func (r *rawTraffic) receiveWindow(o Order) error {
	for range o.Window {
		if err := r.link.recv(r.buf[:o.Size]); err != nil {
			return err
		}
	}
	return r.link.send(r.buf[:1])
}

func (r *rawSocket) send(b []byte) error {
	for len(b) > 0 {
		n, errno := r.conn.Send(b)
		switch errno {
		case 0:
			b = b[n:]
		case syscall.EAGAIN:
			r.pause()
		default:
			return fmt.Errorf("raw: send: %w", errno)
		}
	}
	return nil
}

func (r *rawSocket) recv(b []byte) error {
	for len(b) > 0 {
		n, errno := r.conn.Recv(b)
		switch {
		case errno == syscall.EAGAIN:
			r.pause()
			continue
		case errno != 0:
			return fmt.Errorf("raw: receive: %w", errno)
		case n == 0:
			return errRawEnded
		}
		b = b[n:]
	}
	return nil
}

// pause lets another process have the processor, if there are more than processors.
func (r *rawSocket) pause() {
	if r.yields {
		yieldProcessor()
	}
}

// SocketOptions are the options of raw's sockets: those that Strand's TCP would
// set, so that the difference is the library and not the kernel.
type SocketOptions struct {
	Congestion     string // the kernel's name for it; "" leaves the default
	SendBuffer     int    // bytes; 0 leaves it to the system
	ReceiveBuffer  int
	NagleAlgorithm bool // leave it on
}

func (s SocketOptions) apply(fd int) error {
	errs := []error{rawio.SetNoDelay(fd, !s.NagleAlgorithm)}
	if s.SendBuffer > 0 {
		errs = append(errs, rawio.SetSendBuffer(fd, s.SendBuffer))
	}
	if s.ReceiveBuffer > 0 {
		errs = append(errs, rawio.SetReceiveBuffer(fd, s.ReceiveBuffer))
	}
	if s.Congestion != "" {
		errs = append(errs, rawio.SetCongestion(fd, s.Congestion))
	}
	return errors.Join(errs...)
}

// rawKey is where the first rank of a pair publishes the address that it listens at.
func rawKey(pair int) string { return fmt.Sprintf("bench-raw-%d", pair) }

// connectRaw connects this process with the other one of its pair, over the
// loopback. The descriptor is the caller's to close.
func connectRaw(ctx context.Context, job launch.Job, options SocketOptions) (fd int, err error) {
	pairs := job.Size() / 2
	if job.Rank() < pairs {
		return acceptRaw(ctx, job, options)
	}
	if err := job.Barrier(ctx); err != nil {
		return -1, err
	}
	text, err := job.Get(ctx, rawKey(job.Rank()-pairs))
	if err != nil {
		return -1, err
	}
	to, err := netip.ParseAddrPort(text)
	if err != nil {
		return -1, err
	}
	if fd, err = rawio.Stream(to); err != nil {
		return -1, err
	}
	if err := errors.Join(options.apply(fd), finishConnect(fd, to)); err != nil {
		rawio.Close(fd)
		return -1, err
	}
	return fd, nil
}

// acceptRaw listens, says where, and takes the one connection that comes.
func acceptRaw(ctx context.Context, job launch.Job, options SocketOptions) (int, error) {
	listener, err := rawio.Listen(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), 1)
	if err != nil {
		return -1, err
	}
	defer rawio.Close(listener)
	// An accepted socket starts with the listener's options. One that ever had BBR goes on
	// pacing, so the options must be right from the start.
	if err := options.apply(listener); err != nil {
		return -1, err
	}
	if err := job.Put(ctx, rawKey(job.Rank()), rawio.LocalAddr(listener).String()); err != nil {
		return -1, err
	}
	if err := job.Barrier(ctx); err != nil {
		return -1, err
	}
	for {
		fd, _, err := rawio.Accept(listener)
		switch {
		case errors.Is(err, syscall.EAGAIN):
			rawio.WaitAny([]int{listener}, pollMilliseconds)
		case err != nil:
			return -1, err
		default:
			if err := options.apply(fd); err != nil {
				rawio.Close(fd)
				return -1, err
			}
			return fd, nil
		}
		if ctx.Err() != nil {
			return -1, context.Cause(ctx)
		}
	}
}

// pollMilliseconds is how often a wait looks whether its context has ended.
const pollMilliseconds = 100

// finishConnect connects over the loopback, where the peer's kernel answers at
// once or not at all.
func finishConnect(fd int, to netip.AddrPort) error {
	done, err := rawio.Connect(fd, netip.Addr{}, to)
	if err != nil || done {
		return err
	}
	return rawio.SocketError(fd)
}
