package datagram

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// An Owner takes what comes to a socket. It may send meanwhile, and close the socket.
type Owner interface {
	// Arrived takes a packet, which is valid during the call, and may be changed. When it was received
	// [Socket.Now] says, for all that came with it.
	Arrived(from *rawio.Origin, packet []byte)
	// Undelivered says that the network has not delivered a packet of ours. The answer quotes
	// the packet, so whoever sent it has seen the packet.
	Undelivered(f rawio.Failure)
	// Settle follows when some packets were handed over: it is time to answer them.
	Settle()
}

// A Waiter has more to send than the system had room for.
type Waiter interface {
	// Resume: there may be room again. It reports whether anything was done.
	Resume() bool
}

// Buffers take what arrives, for any number of sockets of one loop.
type Buffers struct {
	arrived *rawio.Arrived
	busy    bool // they hold packets that are being handed over
}

const (
	// receivesAtOnce buffers of receiveSize take what one call receives.
	receivesAtOnce = 4
	receiveSize    = 64 << 10
	// receivesPerPoll bounds the calls of one poll. A socket with which the polls do not keep up is read for longer.
	receivesPerPoll = 8
	receivesBehind  = 4 * receivesPerPoll
	// behindAfter is for how long polls may leave packets behind until those of strangers are dropped, and strangerPace
	// how often one of them is taken nevertheless.
	behindAfter  = int64(50 * time.Millisecond)
	strangerPace = int64(time.Millisecond)
)

// NewBuffers returns buffers.
func NewBuffers() *Buffers { return &Buffers{arrived: rawio.NewArrived(receivesAtOnce, receiveSize)} }

// A Socket is a UDP socket at one address.
type Socket struct {
	// Local is where it is bound.
	Local netip.AddrPort
	// Packets are a batch for one peer, to be filled and sent by [Socket.SendBatch].
	Packets *rawio.Packets

	fd      int
	owner   Owner
	buffers *Buffers
	loop    btl.Loop
	now     int64
	behind  int64 // since when each poll has left packets behind; 0: the last one has not
	next    int64 // when a stranger's packet is taken nevertheless
	watch   btl.Watch
	blocked []Waiter
	closed  bool
}

// Open opens a socket at an address; port 0 lets the system choose one. The system may make the buffers, in
// bytes, smaller than asked for; 0 leaves one to it. Packets that are too long for the network are dropped, not cut.
func Open(at netip.AddrPort, sndbuf, rcvbuf int) (*Socket, error) {
	fd, err := rawio.Datagrams(at, sndbuf, rcvbuf)
	if err != nil {
		return nil, fmt.Errorf("UDP socket at %v: %w", at, err)
	}
	rawio.KeepWhole(fd, at.Addr().Is6())
	return &Socket{fd: fd, Local: netip.AddrPortFrom(at.Addr(), rawio.LocalAddr(fd).Port()), Packets: rawio.NewPackets(fd)}, nil
}

// Serve has the loop read the socket, for an owner.
func (s *Socket) Serve(loop btl.Loop, owner Owner, buffers *Buffers) (err error) {
	rawio.JoinPackets(s.fd)
	s.loop, s.owner, s.buffers = loop, owner, buffers
	if s.watch, err = loop.Watch(s.fd, (*handler)(s)); err != nil {
		s.watch = nil
	}
	return err
}

// Close ends it. It may be called twice.
func (s *Socket) Close() {
	if s.closed {
		return
	}
	s.closed = true
	if s.watch != nil {
		s.watch.Stop()
	}
	rawio.Close(s.fd)
}

// Watch is the loop's, nil before [Socket.Serve].
func (s *Socket) Watch() btl.Watch { return s.watch }

// ReceiveBuffer and SendBuffer are the sizes that the system has given, in bytes.
func (s *Socket) ReceiveBuffer() (int, error) { return rawio.ReceiveBuffer(s.fd) }

// SendBuffer is the other one.
func (s *Socket) SendBuffer() (int, error) { return rawio.SendBuffer(s.fd) }

// handler is a socket as the loop sees it.
type handler Socket

// Poll implements [btl.Handler].
func (h *handler) Poll(writable bool) bool {
	s, did := (*Socket)(h), false
	if writable { // the loop says the same of an error
		s.failures()
		did = s.goOn()
	}
	return s.Receive() || did
}

// Receive takes what has come, and reports whether there was anything. It does nothing while the owner is
// handed a packet: the buffers are in use.
func (s *Socket) Receive() bool {
	if s.closed || s.buffers.busy {
		return false
	}
	did, most, behind := false, receivesPerPoll, s.behind
	if behind != 0 {
		most = receivesBehind
	}
	for range most {
		n, errno := s.buffers.arrived.Receive(s.fd)
		if errno == syscall.EAGAIN {
			s.behind = 0
			break
		}
		did = true
		if errno != 0 {
			s.failures()
			continue
		}
		s.now = s.loop.Now() // reading the clock for each packet would take as long as all else
		s.hand(n)
		if n < receivesAtOnce || s.closed {
			s.behind = 0
			break
		}
		if behind == 0 {
			s.behind = s.now
		}
	}
	if did && !s.closed {
		s.owner.Settle()
	}
	return did
}

// Crowded reports whether the packet that the owner is handed is to be dropped if it is a stranger's, and [Socket.Spares]
// does not say otherwise, before anything is done for it. The polls have not kept up with what comes for a while. A queue that is full
// drops whatever comes, and what it does not drop comes late, that of members too. It gets short as strangers are not
// answered: who is one of us tries again.
func (s *Socket) Crowded() bool { return s.behind != 0 && s.now-s.behind >= behindAfter }

// Spares reports whether a stranger's packet is taken although the socket is crowded: now and then one is. It is asked for
// strangers' packets alone, so that those of members, which may be all that crowd it, do not use that up.
func (s *Socket) Spares() bool {
	if s.now < s.next {
		return false
	}
	s.next = s.now + strangerPace
	return true
}

// Now is the loop's time when the packet was received that the owner is handed.
func (s *Socket) Now() int64 { return s.now }

// hand gives the owner the packets of so many datagrams.
func (s *Socket) hand(n int) {
	s.buffers.busy = true
	defer func() { s.buffers.busy = false }()
	for i := range n {
		b, segment, from, whole := s.buffers.arrived.Datagram(i)
		for whole && len(b) > 0 && !s.closed {
			k := min(segment, len(b))
			s.owner.Arrived(from, b[:k:k])
			b = b[k:]
		}
	}
}

// failures hears what the network has answered to packets of ours, and what the system itself has. The system has the loop look as long as
// there is any. A receive does not always fail then: a send may have done so before, or the packet was not sent.
func (s *Socket) failures() {
	for !s.closed {
		f, ok := rawio.NextFailure(s.fd)
		if !ok {
			return
		}
		s.owner.Undelivered(f)
	}
}
