package wireup

import (
	"net/netip"
	"strings"

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

// Zoned is an address as the system takes it: a link-local IPv6 address has its interface as
// the zone.
func Zoned(a reach.Address) netip.Addr {
	if ip := a.Addr(); ip.Is6() && ip.IsLinkLocalUnicast() {
		return ip.WithZone(a.Interface)
	}
	return a.Addr()
}
