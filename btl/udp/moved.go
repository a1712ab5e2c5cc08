package udp

import (
	"crypto/rand"
	"math"
	"net/netip"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/internal/recovery"
)

// A move is a peer's new address that has not been shown to be its own: an address translator has forgotten the
// old one, say. Packets name their connection, so they are taken wherever they come from, but what is sent
// stays at the old address until the peer has repeated, from the new one, what only who receives there can know.
type move struct {
	so     *socket
	remote netip.AddrPort // not valid: there is none
	came   int            // bytes from there,
	sent   int            // and to there: at most mostEcho times as many
	token  uint64         // to be repeated
	at     int64          // when it was sent last
}

const (
	// mostEcho is how many times more than what came may be sent to an address that anybody can have put
	// into a packet (RFC 9000, section 8.1).
	mostEcho = 3
	// askMoved is after how many nanoseconds, at least, a token is sent again.
	askMoved = int64(20e6)
)

// cameBy notes where a packet of the peer's has come from that is newer than all before. What is older may have
// been overtaken by the move, or be repeated by somebody else.
func (l *link) cameBy(now int64, so *socket, from netip.AddrPort, size int) {
	mv := &l.moved
	switch {
	case so == l.so && alike(from, l.remote):
		*mv = move{} // it is still there
		return
	case from != mv.remote || so != mv.so:
		*mv = move{so: so, remote: from}
		var b [8]byte
		rand.Read(b[:]) // it never fails (crypto/rand)
		mv.token = order.Uint64(b[:])
	}
	mv.came += size
	if mv.at == 0 || now-mv.at >= askMoved {
		l.askMoved(now)
	}
}

// alike reports whether two addresses are one: their zones may be a name and a number.
func alike(a, b netip.AddrPort) bool {
	return a == b || a.Port() == b.Port() && a.Addr().WithZone("") == b.Addr().WithZone("")
}

// askMoved sends the token to the new address, as far as that may be sent anything.
func (l *link) askMoved(now int64) {
	mv, ep := &l.moved, l.user()
	size := headSize + tokenSize + ep.guard.overhead
	if l.severed || mv.sent+size > mostEcho*mv.came {
		return
	}
	mv.at = max(now, 1)
	mv.sent += size
	to := rawio.NewDestination(mv.remote)
	_ = mv.so.Send(ep.guard.seal(order.AppendUint64(append(ep.beginAnswer(), itemWhere), mv.token)), &to)
}

// here is the peer's answer to a token. It counts if it comes from where that was sent to.
func (ep *endpoint) here(token uint64) {
	l := ep.link
	mv := &l.moved
	if !mv.remote.IsValid() || token != mv.token || ep.from != mv.remote {
		return
	}
	was := l.remote
	l.rename(mv.so, mv.remote)
	ep.m.Host.Logf(btl.LogInfo, "udp: rank %d: rank %d is at %v now, and was at %v", ep.m.Host.Rank(), ep.Rank(), l.remote, was)
	switch s := &ep.sender; {
	case was.Addr() != l.remote.Addr():
		ep.elsewhere(ep.m.loop.Now())
	case s.live() && s.path.UnderWay() > 0:
		s.repeat(math.MaxInt64) // the next probe may be far off, after those that nobody got
	}
}

// rename gives the connection another address.
func (l *link) rename(so *socket, remote netip.AddrPort) {
	if !l.dialed {
		delete(l.m.strangers, stranger{l.remote, l.theirs})
		l.m.strangers[stranger{remote, l.theirs}] = l
	}
	l.so, l.remote, l.to, l.moved = so, remote, rawio.NewDestination(remote), move{}
}

// elsewhere: the path is another one. What is under way went to where nobody is, so how often it was sent is no reason to
// pause, and how long an answer takes, how much may be under way, and how long packets may be, is to be found out anew. Another port of the
// same address is the same path.
func (ep *endpoint) elsewhere(now int64) {
	s := &ep.sender
	if !s.live() {
		return
	}
	s.path.Abandon(now, s)
	s.path.RoundTrip = recovery.RoundTrip{}
	s.resume(math.MaxInt64)
	s.mtu = ep.newMTU()
	s.path.Resize(s.mtu.Size())
}

// sayHere answers a WHERE. Whoever has asked knows by the address that this comes from where to send.
func (ep *endpoint) sayHere(token uint64) {
	ep.answer(order.AppendUint64(append(ep.beginAnswer(), itemHere), token))
}
