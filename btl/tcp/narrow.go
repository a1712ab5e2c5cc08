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
	// inVain is how many times in a row the system has sent a segment again: for three seconds, or longer where round
	// trips take long.
	inVain = 4
)

// narrow is what is known of such ways: the longest segments for a host's address.
type narrow map[netip.Addr]int

// lookLater has the connection looked at, unless it will be anyway. On this machine no packets are lost.
func (ep *endpoint) lookLater() {
	if !ep.looking && !ep.nearby {
		ep.looking = true
		ep.m.loop.After(lookAfter, ep.look)
	}
}

// look replaces the connection if its way loses long segments, and goes on looking while anything is under way.
func (ep *endpoint) look() {
	ep.looking = false
	if !ep.Live() || ep.failure != nil {
		return
	}
	stall, known := rawio.StallOf(ep.conn.FD())
	if !known || !stall.UnderWay {
		return
	}
	if n := shorter(&stall); n > 0 {
		ep.m.makeNarrow(ep.host, n)
		ep.m.Host.Logf(btl.LogWarn, "tcp: rank %d: %s loses long packets (segments of %d bytes were sent %d times in vain): from now on they have %d at most. Is an MTU too large?",
			ep.m.Host.Rank(), ep.Desc(), stall.Segment, stall.Resent+1, n)
		ep.Down(ep.Error("sending", fmt.Errorf("segments of %d bytes were sent %d times in vain, shorter ones arrive; a connection with %d at most takes its place", stall.Segment, stall.Resent+1, n)))
		return
	}
	ep.lookLater()
}

// shorter is how long segments should be at most; 0: as they are. The way must have shown that short ones pass while long
// ones do not: the peer was heard meanwhile, or nothing but a handshake has ever come through.
func shorter(s *rawio.Stall) int {
	if s.Resent < inVain || s.Closed || s.Silent > lookAfter && s.Confirmed > int64(s.Segment) {
		return 0
	}
	for _, n := range segmentSizes {
		if n < s.Segment {
			return n
		}
	}
	return 0
}

// makeNarrow has later connections with a peer's host carry no longer segments. So do all that others make from now on: it may
// be the peer that makes the next one, and it does not know.
func (m *module) makeNarrow(host netip.Addr, segment int) {
	if m.narrow == nil {
		m.narrow = make(narrow)
	}
	m.narrow[host] = segment
	for _, l := range m.listeners {
		_ = rawio.SetSegment(l.fd, segment) // a system that can not do this goes on as before
	}
}

// limit has a socket that is about to connect keep to what is known of its way.
func (n narrow) limit(fd int, to netip.Addr) {
	if segment := n[to]; segment > 0 {
		_ = rawio.SetSegment(fd, segment)
	}
}
