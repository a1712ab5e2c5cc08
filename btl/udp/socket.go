package udp

import (
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// A socket is that of one of our addresses.
type socket struct {
	*datagram.Socket
	m       *module
	at      reach.Address
	longest int                                                   // packet that the interface carries
	deaf    bool                                                  // for tests: what arrives is lost
	claims  func(n int, errno syscall.Errno) (int, syscall.Errno) // for tests: what the system says of a batch
}

var _ datagram.Owner = (*socket)(nil)

func (m *module) openSocket(a reach.Address, port uint16, mtus map[int]int) (*socket, uint16, error) {
	so, err := datagram.Open(netip.AddrPortFrom(wireup.Zoned(a), port), m.cfg.sndbuf, m.cfg.rcvbuf)
	if err != nil {
		return nil, 0, err
	}
	return &socket{Socket: so, m: m, at: a, longest: m.cfg.longest(a, mtus)}, so.Local.Port(), nil
}

// sendBatch sends what Packets holds.
func (s *socket) sendBatch() (n int, errno syscall.Errno) {
	if n, errno = s.SendBatch(); s.claims != nil {
		return s.claims(n, errno)
	}
	return n, errno
}

// send sends one packet. It returns why the system has not taken it.
func (s *socket) send(b []byte, to *rawio.Destination) (errno syscall.Errno) {
	if errno = s.Send(b, to); errno != syscall.EAGAIN && s.claims != nil {
		_, errno = s.claims(1, 0)
	}
	return errno
}

// Arrived implements [datagram.Owner].
func (s *socket) Arrived(from *rawio.Origin, b []byte) {
	switch {
	case s.deaf:
		return
	case s.m.meddle == nil:
		s.m.take(s, from, s.Now(), b)
		return
	}
	s.m.meddle(b, func(b []byte) { s.m.take(s, from, s.m.loop.Now(), b) }) // maybe later
}

// Undelivered implements [datagram.Owner].
func (s *socket) Undelivered(f rawio.Failure) { s.m.undelivered(f) }

// Settle implements [datagram.Owner].
func (s *socket) Settle() { s.m.answer() }
