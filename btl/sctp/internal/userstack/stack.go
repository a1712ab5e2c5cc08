package userstack

import (
	"cmp"
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/sctp"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/sctp/stream"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// A Stack is SCTP over UDP.
type Stack struct {
	cfg      stack.Config
	endpoint *sctp.Endpoint
	sockets  []*socket
	clock    *datagram.Clock
	messages pool
	touched  []*association // that may have something to send, or to tell
	inside   int            // calls of the endpoint that have not returned: nothing is sent meanwhile
	out      []byte         // packets of one batch, and of the row behind it
	reply    []byte
	filter   func(packet []byte) bool
	narrow   narrow
	severed  int // associations, for tests
	closed   bool
}

var _ stack.Stack = (*Stack)(nil)

const (
	defaultBuffer = 4 << 20
	// farewell is how long closing waits for what peers have not confirmed: nobody repeats it when the
	// process has ended.
	farewell = time.Second
	// heldBack is for how long an acknowledgement of a packet that came alone is held back: the answer of the
	// program may take it along.
	heldBack = time.Millisecond
	// longestPacket fits into a UDP datagram, with IPv6's header.
	longestPacket = 65000
	// leastPacket has room for a chunk with a cookie: the association would not come about otherwise.
	leastPacket = 512
)

// Open opens the sockets.
func Open(c stack.Config) (*Stack, error) {
	if c.Interleave && c.EncapPort != 0 {
		return nil, &stack.UnsupportedError{Parameter: "interleave", Stack: "user",
			Why: "with btl_sctp_encap_port a peer may be a kernel, and Linux numbers the pieces of a message otherwise than RFC 8260 says (section 2.1)"}
	}
	c.SendBuffer, c.ReceiveBuffer = cmp.Or(c.SendBuffer, defaultBuffer), cmp.Or(c.ReceiveBuffer, defaultBuffer)
	s := &Stack{cfg: c, clock: datagram.NewClock(c.Loop), out: make([]byte, 0, 2*longestPacket), reply: make([]byte, 0, longestPacket)}
	interfaces := nics()
	err := s.leaveOut(interfaces)
	if err != nil {
		return nil, err
	}
	if s.endpoint, err = sctp.NewEndpoint(s.protocol()); err != nil {
		return nil, err
	}
	if err := s.listen(interfaces); err != nil {
		return nil, err
	}
	s.checkBuffers(c)
	return s, nil
}

// protocol is what the transport's parameters are for the protocol.
func (s *Stack) protocol() sctp.Config {
	c := s.cfg
	p := sctp.Config{
		Port: stack.InnerPort, Streams: c.Streams, Window: c.ReceiveBuffer, Outstanding: max(c.Outstanding, c.MostOutstanding),
		RTOInitial: c.RTOInitial, RTOMin: c.RTOMin, RTOMax: c.RTOMax, Heartbeat: c.Heartbeat,
		PathMaxRetrans: c.PathMaxRetrans, AssocMaxRetrans: c.AssocMaxRetrans, Autoclose: c.Autoclose, Held: heldBack,
		Interleave: c.Interleave, Scheduler: scheduler(c.Tuning), Places: places(c.Tuning), Delay: c.Delay,
		ZeroChecksum: zeroChecksum(c.ZeroChecksum), Joined: c.EncapPort != 0, Multipath: c.Multipath, Control: control(c.Congestion),
		Pool: new(stream.Pool), Accept: s.accept, Room: c.Room, Local: s.pathTo, Random: random,
	}
	if len(c.Local) > 1 {
		for _, a := range c.Local {
			p.Addresses = append(p.Addresses, a.WithZone(""))
		}
	}
	return p
}

// control makes the congestion control of a path.
func control(name string) func(packet int) recovery.Controller {
	if name == cubic {
		return func(packet int) recovery.Controller { return recovery.NewCubic(packet) }
	}
	return func(packet int) recovery.Controller { return recovery.NewReno(packet) }
}

const cubic = "cubic"

// zeroChecksum is the method by which errors are found instead (RFC 9653, section 5.1): that below SCTP.
func zeroChecksum(offered bool) uint32 {
	if offered {
		return 1
	}
	return 0
}

// scheduler is in turns where messages can be interleaved, unless it is asked for.
func scheduler(t stack.Tuning) string {
	if t.Scheduler == "" && t.Interleave {
		return "rr"
	}
	return t.Scheduler
}

// places are those of streams: of the control stream, whose is 0, and of the others.
func places(t stack.Tuning) []uint16 {
	if t.Priorities == nil {
		return nil
	}
	first := uint16(0)
	if t.Scheduler == "wfq" {
		first = 1
		for _, weight := range t.Priorities {
			first = max(first, weight)
		}
	}
	return append([]uint16{first}, t.Priorities...)
}

func random() uint64 {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails (crypto/rand)
	return binary.LittleEndian.Uint64(b[:])
}

// A socket is that of one of our addresses.
type socket struct {
	*datagram.Socket
	s       *Stack
	address netip.Addr // as the protocol knows it
	nic     int        // longest packet of SCTP that the interface carries
	network netip.Prefix
	sends   func() (n int, errno syscall.Errno) // [datagram.Socket.SendBatch]
	origin  rawio.Destination                   // of the latest packet,
	from    netip.AddrPort                      // as the protocol knows it
}

var _ datagram.Owner = (*socket)(nil)

// leaveOut leaves out the addresses whose interfaces do not carry packets in which an association can begin, and tells of them. If no
// other address is left that is the error.
func (s *Stack) leaveOut(interfaces map[netip.Addr]nic) error {
	var able []netip.Addr
	var short error
	for _, a := range s.cfg.Local {
		if err := interfaces[a].carries(a); err != nil {
			short = err
			s.cfg.Warn(netip.AddrPort{}, fmt.Errorf("not using %v: %w", a, err))
			continue
		}
		able = append(able, a)
	}
	if len(able) == 0 && short != nil {
		return &btl.UnavailableError{Component: "sctp", Reason: short.Error(), Remedy: "raise it, as by ip link set eth0 mtu 1500, or choose other networks with btl_sctp_if_include"}
	}
	s.cfg.Local = able
	return nil
}

// listen opens a socket for each address, at a port that is free on all. Where a peer may be a kernel, packets are not
// joined (UDP_SEGMENT): a kernel that has the joined one in hand, since it is on this machine, takes it for one
// packet of SCTP's, and breaks down (seen with Linux 6.1).
func (s *Stack) listen(interfaces map[netip.Addr]nic) error {
	open := func(a netip.Addr, port uint16) (*socket, uint16, error) {
		nic := interfaces[a]
		so, err := datagram.Open(netip.AddrPortFrom(a, port), s.cfg.SendBuffer, s.cfg.ReceiveBuffer)
		if err != nil {
			return nil, 0, err
		}
		if s.cfg.EncapPort != 0 {
			so.Packets.Way = min(so.Packets.Way, rawio.ManyCalls)
		}
		return &socket{Socket: so, s: s, address: a, nic: nic.longest(a), network: nic.network, sends: so.SendBatch}, so.Local.Port(), nil
	}
	sockets, _, err := wireup.Bind(s.cfg.Ports, fmt.Sprint(s.cfg.Local), s.cfg.Local, open, func(so *socket) { so.Close() })
	if err != nil {
		return err
	}
	s.sockets = sockets
	buffers := datagram.NewBuffers()
	for _, so := range sockets {
		if err := so.Serve(s.cfg.Loop, so, buffers); err != nil {
			for _, so := range sockets {
				so.Close()
			}
			return err
		}
	}
	return nil
}

// A nic is the interface of an address.
type nic struct {
	mtu     int // 0: not known
	network netip.Prefix
}

// nics returns the interfaces of this host's addresses, of which link-local ones have their zones. They are asked for once: with each
// answer the kernel lists all, which on a host of containers are hundreds.
func nics() map[netip.Addr]nic {
	mtus := make(map[int]int)
	all, _ := net.Interfaces()
	for _, i := range all {
		mtus[i.Index] = i.MTU
	}
	found := make(map[netip.Addr]nic)
	system, _ := reach.System()
	for _, a := range system.Addresses {
		if _, is := found[wireup.Zoned(a)]; !is {
			found[wireup.Zoned(a)] = nic{mtus[a.Index], a.Prefix.Masked()}
		}
	}
	return found
}

// longest is the longest packet of SCTP that the interface takes in UDP.
func (n nic) longest(from netip.Addr) int {
	const udp, ip4, ip6 = 8, 20, 40
	headers := udp + ip4
	if from.Is6() {
		headers = udp + ip6
	}
	if n.mtu == 0 {
		return longestPacket
	}
	return min(n.mtu-headers, longestPacket)
}

// carries returns an error if that is too short for an association.
func (n nic) carries(from netip.Addr) error {
	most := n.longest(from)
	if most >= leastPacket {
		return nil
	}
	return fmt.Errorf("its interface carries packets of %d bytes at most (its MTU), %d are needed", n.mtu, n.mtu+leastPacket-most)
}

// checkBuffers tells of a size that was asked for and that the system has not given.
func (s *Stack) checkBuffers(asked stack.Config) {
	for _, b := range []struct {
		what, limit string
		asked       int
		got         func() (int, error)
	}{
		{"send", "wmem_max", asked.SendBuffer, s.sockets[0].SendBuffer},
		{"receive", "rmem_max", asked.ReceiveBuffer, s.sockets[0].ReceiveBuffer},
	} {
		if got, err := b.got(); err == nil && got < b.asked {
			s.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the system gives a socket a %s buffer of %d bytes, %d were asked for (sysctl net.core.%s=%[3]d)",
				b.what, got, b.asked, b.limit))
		}
	}
}

// Local implements [stack.Stack].
func (s *Stack) Local() []netip.Addr { return s.cfg.Local }

// Port implements [stack.Stack].
func (s *Stack) Port() uint16 { return s.sockets[0].Local.Port() }

// MaxMessage implements [stack.Stack]. A message on each stream can be half arrived. What has arrived of it fills the
// window until its rest has come, for which there must be room.
func (s *Stack) MaxMessage() int {
	return min(s.cfg.MaxMessage, s.cfg.ReceiveBuffer/(s.cfg.Streams+1))
}

// Progress implements [stack.Stack]: there is nothing that no watch and no timer announces.
func (s *Stack) Progress() bool { return false }

// Farewell implements [stack.Stack].
func (s *Stack) Farewell() time.Duration { return farewell }

// Linger implements [stack.Stack].
func (s *Stack) Linger() {
	all := make([]*datagram.Socket, len(s.sockets))
	for i, so := range s.sockets {
		all[i] = so.Socket
	}
	datagram.Wait(1, all...)
	s.receive()
	s.clock.Run()
}

// receive takes what has come to any socket.
func (s *Stack) receive() (did bool) {
	for _, so := range s.sockets {
		did = so.Receive() || did
	}
	return did
}

// Close implements [stack.Stack].
func (s *Stack) Close() error {
	if s.closed {
		return nil
	}
	for a := range s.associations {
		a.Release()
	}
	s.settle()
	s.closed = true
	s.clock.Stop()
	for _, so := range s.sockets {
		so.Close()
	}
	return nil
}

// Filter has f look at each packet that is about to leave: false loses it. For tests.
func (s *Stack) Filter(f func(packet []byte) bool) { s.filter = f }

// loses reports whether a packet is lost here.
func (s *Stack) loses(packet []byte) bool { return s.filter != nil && !s.filter(packet) }

// accept makes a peer's association known.
func (s *Stack) accept(p *sctp.Association) sctp.Owner {
	a := s.newAssociation()
	a.p = p
	if a.h = s.cfg.Accept(a); a.h == nil {
		a.forget()
		return nil
	}
	return a
}

// Arrived implements [datagram.Owner].
func (so *socket) Arrived(from *rawio.Origin, b []byte) {
	meddle := so.s.cfg.Meddle
	if meddle == nil {
		so.take(from, b)
		return
	}
	origin := *from
	meddle(b, func(b []byte) { so.take(&origin, b) })
}

func (so *socket) take(from *rawio.Origin, b []byte) {
	s := so.s
	if s.isSevered(b) || so.Crowded() && s.stranger(b) && !so.Spares() {
		return
	}
	if !so.from.IsValid() || !from.Is(&so.origin) { // mostly it is where the one before has come from
		at := from.AddrPort()
		so.origin, so.from = rawio.NewDestination(at), so.zoned(at)
	}
	s.inside++
	p, reply := s.endpoint.Receive(so.Now(), so.address, so.from, b, s.reply[:0])
	s.inside--
	if reply != nil && !s.loses(reply) {
		so.reply(reply)
	}
	if p == nil {
		return
	}
	if a, ok := p.Owner().(*association); ok {
		a.received++
		a.heard = so
		a.touch()
		return
	}
	s.refuse(p)
}

// reply answers a stranger. How long packets may be on the way there is not known.
func (so *socket) reply(packet []byte) {
	send := so.Send
	if len(packet) > leastPacket {
		send = so.SendCut
	}
	_ = send(packet, &so.origin)
}

// stranger reports whether a packet is for no association that there is, such as an INIT.
func (s *Stack) stranger(b []byte) bool {
	return len(b) < chunk.HeaderSize || s.tagged(b[4:]) == nil
}

// tagged is the association that a tag is of, nil if there is none.
func (s *Stack) tagged(tag []byte) *association {
	if p := s.endpoint.Tagged(binary.BigEndian.Uint32(tag)); p != nil {
		return ownerOf(p)
	}
	return nil
}

// associations are all that there are.
func (s *Stack) associations(yield func(*association) bool) {
	for p := range s.endpoint.All {
		if a := ownerOf(p); a != nil && !yield(a) {
			return
		}
	}
}

// ownerOf is the stack's part of an association, nil when it is over.
func ownerOf(p *sctp.Association) *association {
	if a, ok := p.Owner().(*association); ok && !a.over {
		return a
	}
	return nil
}

// isSevered reports whether a packet is for an association that hears nothing.
func (s *Stack) isSevered(b []byte) bool {
	if s.severed == 0 || len(b) < chunk.HeaderSize {
		return false
	}
	a := s.tagged(b[4:])
	return a != nil && a.severed
}

// Settle implements [datagram.Owner].
func (so *socket) Settle() { so.s.settle() }

// settle sends what those have to send for whom something has come, and tells who waits that there is room.
func (s *Stack) settle() {
	for s.inside == 0 && len(s.touched) > 0 {
		last := len(s.touched) - 1
		a := s.touched[last]
		s.touched[last] = nil
		s.touched = s.touched[:last]
		a.touched = false
		a.settle()
	}
}

// Undelivered implements [datagram.Owner]. That nobody is at a port ends an attempt, or an association, once it is known of all
// addresses: the process has died. The answer has to quote a tag, which only we and the peer
// know. Anything else ends attempts alone, as it does over TCP: an association outlives a router that is away for a while.
func (so *socket) Undelivered(f rawio.Failure) {
	s := so.s
	if f.Code == syscall.EMSGSIZE || len(f.Sent) < chunk.HeaderSize+8 {
		return
	}
	remote := so.zoned(f.To)
	tag := binary.BigEndian.Uint32(f.Sent[4:])
	if tag == 0 { // an INIT, which says our own
		if a := s.tagged(f.Sent[chunk.HeaderSize+4:]); a != nil {
			a.refusedAt(remote, f.Code)
		}
		return
	}
	if f.Code != syscall.ECONNREFUSED {
		return
	}
	for a := range s.associations {
		if a.p.PeerTag() != tag {
			continue
		}
		if a.p.Refused(s.cfg.Loop.Now(), remote) {
			a.fail(f.Code)
		} else {
			s.work(a)
		}
		return
	}
}
