package udp

import (
	"fmt"
	"net/netip"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// A socket is that of one of our addresses.
type socket struct {
	m       *module
	fd      int
	at      reach.Address
	local   netip.AddrPort
	longest int // packet that the interface carries
	watch   btl.Watch
	packets *rawio.Packets
	blocked []*endpoint // that have more to send than the system had room for
}

const (
	// receivesAtOnce buffers of receiveSize take what one call receives.
	receivesAtOnce = 4
	receiveSize    = 64 << 10
	// receivesPerPoll bounds what one poll of a socket reads, so that a peer that sends without end
	// does not keep the others waiting.
	receivesPerPoll = 8
)

func (m *module) openSocket(a reach.Address, port uint16) (*socket, uint16, error) {
	at := netip.AddrPortFrom(wireup.Zoned(a), port)
	fd, err := rawio.Datagrams(at, m.cfg.sndbuf, m.cfg.rcvbuf)
	if err != nil {
		return nil, 0, fmt.Errorf("UDP socket at %v: %w", at, err)
	}
	rawio.KeepWhole(fd, a.Addr().Is6())
	s := &socket{m: m, fd: fd, at: a, local: rawio.LocalAddr(fd), packets: rawio.NewPackets(fd)}
	s.longest = m.cfg.longest(a)
	return s, s.local.Port(), nil
}

func (s *socket) close() {
	if s.watch != nil {
		s.watch.Stop()
	}
	rawio.Close(s.fd)
}

// Poll implements [btl.Handler].
func (s *socket) Poll(writable bool) bool {
	did := false
	if writable && len(s.blocked) > 0 {
		did = s.resume()
	}
	return s.receive() || did
}

// receive takes what has come, and answers it.
func (s *socket) receive() bool {
	did := false
	for range receivesPerPoll {
		n, errno := s.m.arrived.Receive(s.fd)
		if errno == syscall.EAGAIN {
			break
		}
		did = true
		if errno != 0 {
			s.failures()
			continue
		}
		for i := range n {
			b, segment, from, whole := s.m.arrived.Datagram(i)
			for whole && len(b) > 0 && !s.m.closed {
				k := min(segment, len(b))
				s.m.comes(s, from, b[:k:k])
				b = b[k:]
			}
		}
		if n < receivesAtOnce {
			break
		}
	}
	if did {
		s.m.answer()
	}
	return did
}

// failures hears what the network has answered to packets of ours.
func (s *socket) failures() {
	for {
		f, ok := rawio.NextFailure(s.fd)
		if !ok {
			return
		}
		s.m.undelivered(f)
	}
}

// block has an endpoint go on when the system has room again.
func (s *socket) block(ep *endpoint) {
	if !ep.sender.blocked {
		ep.sender.blocked = true
		s.blocked = append(s.blocked, ep)
		s.watch.Write(true)
	}
}

func (s *socket) resume() (did bool) {
	waiting := s.blocked
	s.blocked = nil
	s.watch.Write(false)
	for _, ep := range waiting {
		ep.sender.blocked = false
		if ep.sender.live() {
			ep.push()
			did = true
		}
	}
	return did
}

// send sends one packet that is not the flow's. If there is no room for it, it is as if lost.
func (s *socket) send(b []byte, to *rawio.Destination) {
	if errno := rawio.SendTo(s.fd, b, to); errno != 0 && errno != syscall.EAGAIN {
		_ = rawio.SendTo(s.fd, b, to) // the error may be the network's answer to an earlier packet
	}
}
