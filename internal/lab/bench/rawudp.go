package bench

import (
	"context"
	"fmt"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/launch"
)

// rawDatagrams is the floor of what stands on UDP: two sockets, a message is one datagram, and one system call at
// each end. The reader spins. Nothing is sent again, so it can only play ping-pong, in which nothing is lost for want of
// room.
type rawDatagrams struct {
	fd   int
	to   rawio.Destination
	from *rawio.Origin
}

// mostDatagram is what UDP over IPv4 carries.
const mostDatagram = 65507

const rawUDPAbout = "two spinning sockets of UDP, a datagram a message"

func (r *rawDatagrams) send(b []byte) error {
	if len(b) > mostDatagram {
		return fmt.Errorf("raw-udp: a message of %d bytes does not fit a datagram, which has %d at most", len(b), mostDatagram)
	}
	if errno := rawio.SendTo(r.fd, b, &r.to); errno != 0 {
		return fmt.Errorf("raw-udp: send: %w", errno)
	}
	return nil
}

func (r *rawDatagrams) recv(b []byte) error {
	for {
		n, errno := rawio.RecvFrom(r.fd, b, r.from)
		switch {
		case errno == syscall.EAGAIN:
		case errno != 0:
			return fmt.Errorf("raw-udp: receive: %w", errno)
		case n != len(b):
			return fmt.Errorf("raw-udp: a datagram of %d bytes in the place of one of %d", n, len(b))
		default:
			return nil
		}
	}
}

func rawUDPKey(rank int) string { return fmt.Sprintf("bench-raw-udp-%d", rank) }

// connectDatagrams opens a socket on the loopback, and finds out where the other process's is. The descriptor is the
// caller's to close.
func connectDatagrams(ctx context.Context, job launch.Job) (*rawDatagrams, error) {
	fd, err := rawio.Datagrams(netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), 0, 0)
	if err != nil {
		return nil, err
	}
	r := &rawDatagrams{fd: fd, from: new(rawio.Origin)}
	if r.to, err = exchangeAddresses(ctx, job, fd); err != nil {
		rawio.Close(fd)
		return nil, err
	}
	return r, nil
}

func exchangeAddresses(ctx context.Context, job launch.Job, fd int) (to rawio.Destination, err error) {
	if err := job.Put(ctx, rawUDPKey(job.Rank()), rawio.LocalAddr(fd).String()); err != nil {
		return to, err
	}
	if err := job.Barrier(ctx); err != nil {
		return to, err
	}
	text, err := job.Get(ctx, rawUDPKey(1-job.Rank()))
	if err != nil {
		return to, err
	}
	at, err := netip.ParseAddrPort(text)
	if err != nil {
		return to, err
	}
	return rawio.NewDestination(at), nil
}
