package userstack

import (
	"net/netip"
	"slices"
	"syscall"

	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/sctp"
)

// A way is where packets for a pair of addresses go.
type way struct {
	pair sctp.Pair
	so   *socket
	to   rawio.Destination
}

// socketFor is the socket to send from: the one at an address, or any that can send to the peer.
func (s *Stack) socketFor(local, remote netip.Addr) *socket {
	for _, so := range s.sockets {
		if so.address == local {
			return so
		}
	}
	for _, so := range s.sockets {
		if !local.IsValid() && so.address.Is4() == remote.Is4() {
			return so
		}
	}
	return nil
}

// pair is the path from a socket to an address of a peer's.
func (so *socket) pair(remote netip.AddrPort, nearby bool) sctp.Pair {
	const always = 1200 // what every network should carry: RFC 9000, section 14
	most := min(so.s.cfg.MTU, so.nic)
	base := min(always, most)
	if nearby {
		most = min(so.s.cfg.LoopbackMTU, so.nic)
		base = most
	}
	narrow := len(so.s.narrow) > 0 && so.s.narrow.has(so.s.cfg.Loop.Now(), remote.Addr())
	return sctp.Pair{Local: so.address, Remote: so.zoned(remote), Base: base, Most: most, Narrow: narrow}
}

// zoned is an address of a peer's as the protocol knows it that this socket sends to, or has heard from: a link-local one is that of the socket's link, since
// interfaces may have the same one, and peers too.
func (so *socket) zoned(remote netip.AddrPort) netip.AddrPort {
	zone := ""
	if remote.Addr().IsLinkLocalUnicast() {
		zone = so.address.Zone()
	}
	return netip.AddrPortFrom(remote.Addr().WithZone(zone), remote.Port())
}

// pathTo is the path to an address of a peer that has come to one of ours: from there, or from the one in the network
// of the address. Paths that do not share a network do not die together.
func (s *Stack) pathTo(remote netip.AddrPort, arrived netip.Addr) (sctp.Pair, bool) {
	so, plain := s.socketFor(arrived, remote.Addr()), remote.Addr().WithZone("")
	for _, other := range s.sockets {
		if other.network.Contains(plain) && (so == nil || !so.network.Contains(plain)) {
			so = other
		}
	}
	if so == nil || so.address.Is4() != remote.Addr().Is4() {
		return sctp.Pair{}, false
	}
	return so.pair(remote, s.nearby(remote.Addr())), true
}

// nearby reports whether an address is of this machine.
func (s *Stack) nearby(a netip.Addr) bool {
	for _, so := range s.sockets {
		if so.address == a {
			return true
		}
	}
	return a.IsLoopback()
}

// mostWays is how many are kept: more than there are paths.
const mostWays = 64

// way finds where packets for a pair go.
func (a *association) way(p *sctp.Pair) *way {
	for i := range a.ways {
		if w := &a.ways[i]; w.pair.Remote == p.Remote && w.pair.Local == p.Local {
			return w
		}
	}
	if len(a.ways) == mostWays { // the peer comes from one port after the other
		a.ways = nil // batches may still have some of them
	}
	so := a.s.socketFor(p.Local, p.Remote.Addr())
	a.ways = append(a.ways, way{*p, so, rawio.NewDestination(p.Remote)})
	return &a.ways[len(a.ways)-1]
}

// A batch is packets for one way, one behind the other. All have the same length, but for the last.
type batch struct {
	w     *way
	size  int
	bytes []byte
}

// drain sends what an association has to send, and sets its alarm.
func (a *association) drain() {
	if a.s.inside > 0 || a.s.closed {
		return
	}
	if a.blocked {
		a.s.clock.Set(a.alarm, a.since+mostBlocked)
		return
	}
	a.held = 0
	a.resend()
	a.sendRows()
	s := a.s
	if a.p.State() == sctp.Closed {
		s.clock.Set(a.alarm, 0)
		return
	}
	s.clock.Set(a.alarm, a.p.At())
}

// sendRows sends what there is to send now. Messages do not always fill packets. Rows of one packet each are joined then, as long
// as they go the same way and are of the same length: each call of the system takes longer than to make a packet.
func (a *association) sendRows() {
	s, now := a.s, a.s.cfg.Loop.Now()
	var b batch // the end of out
	for out := s.out[:0]; !a.blocked; {
		grown, size, to, ok := a.p.SendRow(now, out, rawio.MaxSegments, rawio.MaxSegmentsBytes)
		if !ok && b.w == nil {
			return
		}
		if !ok {
			a.flush(b)
			b, out = batch{}, s.out[:0]
			continue // where those are too long, the protocol has others instead
		}
		row := batch{a.way(&to.Pair), size, s.sift(grown[len(out):], size)}
		switch {
		case len(row.bytes) == 0:
			continue
		case !to.Whole:
			a.cut(row.w, row.bytes)
			continue
		case b.takes(&row):
			b.bytes = b.bytes[:len(b.bytes)+len(row.bytes)]
		default:
			a.flush(b)
			b = row
		}
		if out = out[:len(out)+len(row.bytes)]; cap(out)-len(out) < longestPacket {
			a.flush(b)
			b, out = batch{}, s.out[:0]
		}
	}
	a.flush(b)
}

// takes reports whether a row may go behind the batch, in the same call.
func (b *batch) takes(row *batch) bool {
	return b.w == row.w && len(b.bytes)%b.size == 0 && (row.size == b.size || row.size < b.size && len(row.bytes) == row.size) &&
		len(b.bytes)+len(row.bytes) <= min(rawio.MaxSegmentsBytes, rawio.MaxSegments*b.size)
}

// sift takes those packets out of a row that are lost here.
func (s *Stack) sift(row []byte, size int) []byte {
	if s.filter == nil {
		return row
	}
	kept := row[:0]
	for packet := range slices.Chunk(row, size) {
		if !s.loses(packet) {
			kept = append(kept, packet...)
		}
	}
	return kept
}

// cut sends a packet that the network may cut: one that was longer than its path carries by now, and stays so.
func (a *association) cut(w *way, packet []byte) {
	if !a.severed {
		a.sent++
		_ = w.so.SendCut(packet, &w.to)
	}
}

// flush gives the system the packets of a batch. Where they are too long, the protocol has others instead. That the socket has no room passes, and is told: what it has
// not taken waits. That a queue behind it has none (ENOBUFS) is not told, and is for the congestion control: such packets are as if lost. Neither says
// how long packets may be.
func (a *association) flush(b batch) {
	if b.w == nil || a.severed {
		return
	}
	a.sent++
	so := b.w.so
	so.Packets.Reset(&b.w.to, b.size)
	for packet := range slices.Chunk(b.bytes, b.size) {
		so.Packets.Add(packet)
	}
	n, errno := so.sends()
	if n == 0 && (errno == syscall.EAGAIN || errno == syscall.ENOBUFS) {
		a.p.Untaken(b.w.pair.Remote, b.size)
	}
	switch errno {
	case syscall.EAGAIN:
		b.bytes = slices.Clone(b.bytes[n*b.size:])
		a.kept = append(a.kept, b)
		a.block(so)
	case syscall.EMSGSIZE:
		a.p.TooLong(a.s.cfg.Loop.Now(), b.w.pair.Remote, b.size)
	default:
		if p := b.w.pair; datagram.NoWay(errno) && a.p.State() == sctp.CookieWait {
			a.s.cfg.Loop.Post(func() { // no call of the handler from here
				a.without(func(of sctp.Pair) bool { return of.Local == p.Local && of.Remote == p.Remote }, errno)
			})
		}
	}
}

// resend gives the system what it has had no room for.
func (a *association) resend() {
	kept := a.kept
	a.kept = nil
	for _, b := range kept {
		a.flush(b)
	}
}

// refuse tells the peer of an association that is nobody's.
func (s *Stack) refuse(p *sctp.Association) {
	a := association{s: s, p: p}
	for {
		packet, to, ok := p.Send(s.cfg.Loop.Now(), s.out[:0])
		if !ok {
			return
		}
		if w := a.way(&to.Pair); !s.loses(packet) {
			_ = w.so.Send(packet, &w.to)
		}
	}
}
