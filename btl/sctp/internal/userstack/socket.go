package userstack

import (
	"fmt"
	"net/netip"
	"sync"
	"syscall"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/wireup"
)

const (
	// largestPacket that is received, which is what pion takes.
	largestPacket = 8192
	// largestDatagram that is received, which may be several packets (joined.go).
	largestDatagram = 64 << 10
	// packetsPerPoll bounds what one poll of a socket reads, so that a peer that
	// sends without end does not keep the others waiting.
	packetsPerPoll = 128
)

// A socket is the UDP socket of one local address.
type socket struct {
	s     *Stack
	fd    int
	local netip.AddrPort
	watch btl.Watch
	from  rawio.Origin
	buf   [largestDatagram]byte
	// held is a packet that the ring of its association had no room for; nothing
	// else is read until it has.
	held   []byte
	holder *association

	mu     sync.RWMutex // pion's writers may outlive the socket for a moment
	closed bool
}

// Poll implements [btl.Handler].
func (so *socket) Poll(bool) bool {
	did := so.read()
	return so.s.Progress() || did
}

// read takes what is there, as far as there is room for it, and reports whether
// there was anything.
func (so *socket) read() bool {
	if so.held != nil && !so.retry() {
		return false
	}
	did := false
	for range packetsPerPoll {
		n, errno := rawio.RecvFrom(so.fd, so.buf[:], &so.from)
		switch {
		case errno == syscall.EAGAIN:
			return did
		case errno != 0:
			so.failures()
			did = true
			continue
		}
		did = true
		so.s.arrived(so, so.from.AddrPort(), so.buf[:n])
		if so.held != nil {
			break
		}
	}
	return did
}

// retry offers the packet that is held again.
func (so *socket) retry() bool {
	if !so.holder.ended && !so.holder.conn.push(so.held) {
		so.s.kicked = yields
		return false
	}
	so.holder.held = false
	so.held, so.holder = nil, nil
	return true
}

// failures hears what the network has answered to packets of ours.
func (so *socket) failures() {
	for {
		f, ok := rawio.NextFailure(so.fd)
		if !ok {
			return
		}
		so.s.undelivered(f)
	}
}

// send gives the network a packet of the engine's own, which has other work than to wait: a
// network that has no room has lost it, as networks do, and it comes again when it is missed.
func (so *socket) send(b []byte, to *rawio.Destination) { so.give(b, to, false) }

// give gives the network a packet and reports whether it has left. It waits for room, a
// moment, if it may. Any goroutine may call it.
func (so *socket) give(b []byte, to *rawio.Destination, wait bool) bool {
	if f := so.s.filter.Load(); f != nil && !(*f)(b) {
		return true
	}
	so.mu.RLock()
	defer so.mu.RUnlock()
	if so.closed {
		return false
	}
	errno := rawio.SendTo(so.fd, b, to)
	for tries := 0; errno != 0 && tries < 3; tries++ {
		if errno == syscall.EAGAIN {
			if !wait {
				return false
			}
			rawio.WaitWritable(so.fd, 5)
		} // else it may be the answer to an earlier packet
		errno = rawio.SendTo(so.fd, b, to)
	}
	return errno == 0
}

func (so *socket) close() {
	if so.watch != nil {
		so.watch.Stop()
		so.watch = nil
	}
	so.mu.Lock()
	defer so.mu.Unlock()
	so.closed = true
	rawio.Close(so.fd)
}

// openSockets finds a port that is free on all the addresses, but for those that
// can not be listened on at all at the moment.
func openSockets(cfg *config) ([]*socket, error) {
	local, err := bindable(cfg)
	if err != nil {
		return nil, err
	}
	if cfg.PortMin > 0 {
		var last error
		for p := cfg.PortMin; p < cfg.PortMin+max(cfg.Ports, 1); p++ {
			sockets, err := bindPort(cfg, local, uint16(p))
			if err == nil {
				return sockets, nil
			}
			if !wireup.PortTrouble(err) {
				return nil, err
			}
			last = err
		}
		return nil, fmt.Errorf("none of the UDP ports %d to %d is free: %w (each process of a host needs one: raise btl_sctp_port_range)",
			cfg.PortMin, cfg.PortMin+max(cfg.Ports, 1)-1, last)
	}
	const attempts = 64
	for range attempts {
		var head, rest []*socket
		if head, err = bindPort(cfg, local[:1], 0); err != nil {
			return nil, err
		}
		if rest, err = bindPort(cfg, local[1:], head[0].local.Port()); err == nil {
			return append(head, rest...), nil
		}
		head[0].close()
		if !wireup.PortTrouble(err) {
			return nil, err
		}
	}
	return nil, fmt.Errorf("no UDP port is free on all addresses: %w", err)
}

// bindable leaves out the addresses that can not be listened on, such as one of
// IPv6 that is still being checked for duplicates.
func bindable(cfg *config) ([]netip.Addr, error) {
	var good []netip.Addr
	var last error
	for _, a := range cfg.Local {
		sockets, err := bindPort(cfg, []netip.Addr{a}, 0)
		if err != nil {
			last = err
			continue
		}
		sockets[0].close()
		good = append(good, a)
	}
	if len(good) == 0 {
		return nil, last
	}
	return good, nil
}

func bindPort(cfg *config, addrs []netip.Addr, port uint16) ([]*socket, error) {
	var all []*socket
	for _, a := range addrs {
		at := netip.AddrPortFrom(a, port)
		fd, err := rawio.Datagrams(at, cfg.SendBuffer, cfg.ReceiveBuffer)
		if err != nil {
			for _, so := range all {
				so.close()
			}
			return nil, fmt.Errorf("UDP socket at %v: %w", at, err)
		}
		all = append(all, &socket{fd: fd, local: netip.AddrPortFrom(a, rawio.LocalAddr(fd).Port())})
	}
	return all, nil
}
