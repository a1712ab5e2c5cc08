package tcp

import (
	"net/netip"

	"github.com/strandmp/strand/btl"
)

// stray logs a connection that has come to nothing. Anybody can make them, so
// warnings are limited.
func (m *module) stray(level btl.LogLevel, from netip.AddrPort, err error) {
	who := "a connection"
	if from.IsValid() {
		who = "a connection from " + from.String()
	}
	if level != btl.LogWarn {
		m.host.Logf(level, "tcp: rank %d: dropped %s: %v", m.host.Rank(), who, err)
		return
	}
	dropped, ok := m.strays.Allow(m.loop.Now())
	if !ok {
		return
	}
	if dropped > 0 {
		m.host.Logf(level, "tcp: rank %d: dropped %s: %v (and %d others since the last such line)", m.host.Rank(), who, err, dropped)
		return
	}
	m.host.Logf(level, "tcp: rank %d: dropped %s: %v", m.host.Rank(), who, err)
}
