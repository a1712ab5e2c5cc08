package tcp

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/rawio"
)

// Some ways lose long packets without a word: a tunnel takes less than the cards say, and what a router says of that does not arrive
// (RFC 2923, black holes of path MTU discovery). A connection is made over such a way, and carries what is short, but its first
// long segment is sent again and again, by most systems for a quarter of an hour. So a connection whose segments are in vain is replaced
// by one with shorter segments.

// segmentSizes are those that are tried, in bytes without headers: what passes most tunnels, then what every
// network has to carry.
var segmentSizes = [...]int{1200, 536}

const (
	// lookAfter is the time between two looks at a connection that has sent something.
	lookAfter = time.Second
	// signsOfLife is after how many times in a row that the peer was heard after a segment was sent again the way is taken to be well
	// but for that. One says nothing: a way that comes back may show it before the segment's next turn.
	signsOfLife = 2
	// inVain is how many times in a row the system has sent a segment again: for three seconds, or longer where round
	// trips take long.
	inVain = 4
	// young is a connection for so long. What is made of one that has carried little says nothing later: its way may be dead by then.
	young = 10 * time.Second
	// muchArrived is what a connection does not carry over a way that takes no long segments.
	muchArrived = 16 << 10
)

// A strait is what is known of the ways to a host.
type strait struct {
	segment int // how long segments are at most; 0: nothing is known
	vain    int // how often they were sent again on connections in a row that were ended meanwhile, and each could be made
}

// learn notes that segments have n bytes at most, and reports whether that was not known.
func (s *strait) learn(n int) bool {
	s.vain = 0
	if s.segment > 0 && s.segment <= n {
		return false
	}
	s.segment = n
	return true
}

// straits are those of all hosts, by their addresses. They have no zone: the system gives it as a number where a peer connects, and as a
// name where we do.
type straits map[netip.Addr]*strait

func (n *straits) of(host netip.Addr) *strait {
	if *n == nil {
		*n = make(straits)
	}
	host = host.WithZone("")
	if (*n)[host] == nil {
		(*n)[host] = new(strait)
	}
	return (*n)[host]
}

// limit has a socket that is about to connect keep to what is known of its way.
func (n straits) limit(fd int, to netip.Addr) {
	if s := n[to.WithZone("")]; s != nil && s.segment > 0 {
		_ = rawio.SetSegment(fd, s.segment) // a system that can not do this goes on as before
	}
}

// A lookout looks at a connection while anything is under way.
type lookout struct {
	since  int64 // the connection is there
	timer  btl.Timer
	due    bool // a look is
	resent int  // how often the oldest segment had been sent again, as of the last look,
	proved int  // and when the peer was last heard after that
	signs  int  // times in a row that it was
}

// lookLater has the connection looked at, unless it will be anyway. On this machine no packets are lost.
func (ep *endpoint) lookLater() {
	l := &ep.lookout
	if l.due || ep.nearby {
		return
	}
	l.due = true
	if t, ok := l.timer.(btl.Rearmer); ok {
		t.Reset(lookAfter)
	} else {
		l.timer = ep.m.loop.After(lookAfter, ep.look)
	}
}

// start begins with a new connection.
func (l *lookout) start(now int64) { *l = lookout{since: now, timer: l.timer} }

// stop ends looking, until something is sent again.
func (l *lookout) stop() {
	if l.timer != nil {
		l.timer.Stop()
	}
	l.start(l.since)
}

// note takes in what a look has found.
func (l *lookout) note(s *rawio.Stall) {
	if s.Resent < l.resent {
		l.resent, l.proved, l.signs = 0, 0, 0 // something has arrived
	}
	if s.Silent < lookAfter && l.resent > l.proved {
		l.proved = l.resent
		l.signs++
	}
	l.resent = s.Resent
}

// look replaces the connection if its way loses long segments, and goes on looking while anything is under way.
func (ep *endpoint) look() {
	ep.lookout.due = false
	if !ep.Live() || ep.failure != nil {
		return
	}
	stall, known := rawio.StallOf(ep.conn.FD())
	if !known || stall.UnderWay == 0 {
		ep.lookout.stop()
		return
	}
	ep.lookout.note(&stall)
	if n := ep.lookout.shorter(&stall, ep.m.loop.Now()); n > 0 {
		ep.narrow(&stall, n, stall.Resent)
		ep.Down(ep.Error("sending", fmt.Errorf("segments of %d bytes were sent %d times in vain, shorter ones arrive; a connection with %d at most takes its place", stall.Segment, stall.Resent+1, n)))
		return
	}
	ep.lookLater()
}

// shorter is how long segments should be at most; 0: as they are. The way must have shown that short ones pass while long
// ones do not: the peer was heard meanwhile, or the connection is new, and nothing but the handshake has come through.
func (l *lookout) shorter(s *rawio.Stall, now int64) int {
	fresh := now-l.since < int64(young) && s.Confirmed <= int64(s.Segment)
	if s.Resent < inVain || l.signs < signsOfLife && !fresh {
		return 0
	}
	return sizeAfter(s)
}

// sizeAfter is the longest that is tried after the present one; 0: none. Where nothing so long is under way it is not for their length that
// segments are in vain, and where the peer takes nothing none is.
func sizeAfter(s *rawio.Stall) int {
	for _, n := range segmentSizes {
		if n < s.Segment && n < s.UnderWay && !s.Closed {
			return n
		}
	}
	return 0
}

// giveUp takes note of what was in vain on a connection that is ended. The message layer does not wait for the looks of one of several:
// they all might lose what is long. Those that follow each other could be made, so what is short gets through.
func (ep *endpoint) giveUp() {
	if ep.nearby {
		return
	}
	stall, known := rawio.StallOf(ep.conn.FD())
	if !known || stall.Resent == 0 {
		return
	}
	n, s := sizeAfter(&stall), ep.m.straits.of(ep.host)
	if n == 0 {
		return
	}
	if stall.Confirmed > muchArrived {
		s.vain = 0
	}
	if s.vain += stall.Resent; s.vain >= inVain && stall.Confirmed <= muchArrived {
		ep.narrow(&stall, n, s.vain)
	}
}

// narrow has later connections with the peer's host carry segments of n bytes at most.
func (ep *endpoint) narrow(stall *rawio.Stall, n, resent int) {
	ep.m.narrow(ep.conn.FD(), ep.host, ep.Desc(), stall, n, resent)
}

// narrow does so for the host that a connection is with. So do all that are made to the same address of ours: it may be the peer that makes
// the next one, and it does not know.
func (m *module) narrow(fd int, host netip.Addr, desc string, stall *rawio.Stall, n, resent int) {
	if !m.straits.of(host).learn(n) {
		return // another connection has found it out
	}
	local := rawio.LocalAddr(fd).Addr()
	for _, l := range m.listeners {
		if rawio.LocalAddr(l.fd).Addr() == local {
			l.narrow(n)
		}
	}
	m.Host.Logf(btl.LogWarn, "tcp: rank %d: %s loses long packets (segments of %d bytes were sent again %d times in vain): from now on they have %d at most. Is an MTU too large?",
		m.Host.Rank(), desc, stall.Segment, resent, n)
}

// look ends an attempt of ours whose part of the handshake, in which are this process's addresses, is longer than what its way takes. It was
// connected, so what is short gets through.
func (t *talk) look() {
	t.again = t.m.loop.After(lookAfter, t.look)
	stall, known := rawio.StallOf(t.conn.FD())
	n := sizeAfter(&stall)
	if !known || n == 0 || stall.Resent < inVain {
		return
	}
	t.m.narrow(t.conn.FD(), t.Target().Addr(), t.pair.String(), &stall, n, stall.Resent)
	t.pending.Ended(fmt.Errorf("%d bytes were sent %d times in vain; the next attempt has segments of %d at most", stall.UnderWay, stall.Resent+1, n))
}

// narrow has what is accepted from now on carry no longer segments.
func (l *listener) narrow(segment int) {
	if l.segment == 0 || segment < l.segment {
		l.segment = segment
		_ = rawio.SetSegment(l.fd, segment)
	}
}
