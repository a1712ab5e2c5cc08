//go:build linux && (amd64 || arm || arm64 || riscv64)

package kernel

import "github.com/strandmp/strand/btl"

// Congestion implements [stack.Association]. The kernel does not count timeouts.
func (a *association) Congestion() (btl.Congestion, bool) {
	if !a.up || a.over {
		return btl.Congestion{}, false
	}
	status, err := a.k.sock.Status(a.id)
	if err != nil {
		return btl.Congestion{}, false
	}
	c := btl.Congestion{
		Algorithm: "RFC 9260",
		Window:    status.Primary.Window, RoundTrip: status.Primary.RoundTrip, Timeout: status.Primary.RTO, Resent: -1, Timeouts: -1,
	}
	if resent, err := a.k.sock.Resent(a.id); err == nil {
		c.Resent = int64(resent)
	}
	return c, true
}
