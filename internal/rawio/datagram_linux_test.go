//go:build linux && (386 || amd64 || arm || arm64 || riscv64)

package rawio

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whether a datagram comes from where the others go to is asked for each one.
func TestOriginIsADestination(t *testing.T) {
	addrs := []netip.AddrPort{{}}
	for _, a := range []string{"10.0.0.1:7", "10.0.0.1:8", "10.0.0.2:7", "[fe80::1%200]:7", "[fe80::1%201]:7", "[fe80::1%200]:8", "[fe80::2%200]:7", "[fd00::1]:7", "[::]:7"} {
		addrs = append(addrs, netip.MustParseAddrPort(a))
	}
	for _, from := range addrs[1:] {
		d := NewDestination(from)
		o := &Origin{raw: d.raw}
		assert.Equal(t, from, o.AddrPort())
		for _, to := range addrs {
			d := NewDestination(to)
			assert.Equal(t, from == to, o.Is(&d), "%v, %v", from, to)
			assert.Zero(t, testing.AllocsPerRun(10, func() { o.Is(&d) }))
		}
	}
}
