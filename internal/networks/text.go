package networks

import (
	"net/netip"
	"strings"
	"time"

	"github.com/strandmp/strand/reach"
)

// Plain makes a name that came from the network fit for a terminal and a log.
func Plain(b []byte) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r >= 0x7f {
			return '?'
		}
		return r
	}, string(b))
}

// Zoned is an address as the system takes it: a link-local one of IPv6 with its
// interface.
func Zoned(a reach.Address) netip.Addr {
	if ip := a.Addr(); ip.Is6() && ip.IsLinkLocalUnicast() {
		return ip.WithZone(a.Interface)
	}
	return a.Addr()
}

// A Limiter lets one line a second through and counts the others: for what
// anybody on the network can cause.
type Limiter struct {
	next    int64
	dropped int
}

// Allow reports whether a line may be written now, in nanoseconds of the loop's
// clock, and how many were kept back since the last.
func (l *Limiter) Allow(now int64) (dropped int, ok bool) {
	if l.next != 0 && now < l.next {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped = l.dropped, 0
	l.next = now + int64(time.Second)
	return dropped, true
}
