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
	// held is a packet for which the ring of its association had no room. Nothing
	// else is read until there is room.
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

// send gives the network a packet of the engine's own, without waiting for room: the engine has
// other work. If there is no room the packet is lost, and is sent again when it is missed.
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
		} // else the error may be the network's answer to an earlier packet
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

// openSockets finds a port that is free on all the addresses.
func openSockets(cfg *config) ([]*socket, error) {
	open := func(a netip.Addr, port uint16) (*socket, uint16, error) {
		at := netip.AddrPortFrom(a, port)
		fd, err := rawio.Datagrams(at, cfg.SendBuffer, cfg.ReceiveBuffer)
		if err != nil {
			return nil, 0, fmt.Errorf("UDP socket at %v: %w", at, err)
		}
		so := &socket{fd: fd, local: netip.AddrPortFrom(a, rawio.LocalAddr(fd).Port())}
		return so, so.local.Port(), nil
	}
	sockets, _, err := wireup.Bind(cfg.Ports, fmt.Sprint(cfg.Local), cfg.Local, open, (*socket).close)
	return sockets, err
}
