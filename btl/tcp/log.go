package tcp

import (
	"net/netip"
	"time"

	"github.com/strandmp/strand/btl"
)

// A limiter lets one line a second through and counts the others.
type limiter struct {
	next    int64
	dropped int
}

func (l *limiter) allow(now int64) (dropped int, ok bool) {
	if l.next != 0 && now < l.next {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped = l.dropped, 0
	l.next = now + int64(time.Second)
	return dropped, true
}

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
	dropped, ok := m.strays.allow(m.loop.Now())
	if !ok {
		return
	}
	if dropped > 0 {
		m.host.Logf(level, "tcp: rank %d: dropped %s: %v (and %d others since the last such line)", m.host.Rank(), who, err, dropped)
		return
	}
	m.host.Logf(level, "tcp: rank %d: dropped %s: %v", m.host.Rank(), who, err)
}
