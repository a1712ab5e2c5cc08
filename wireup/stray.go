package wireup

import (
	"fmt"
	"time"

	"github.com/strandmp/strand/btl"
)

// Stray logs a connection that has come to nothing, and where it came from, if that is
// known. Anybody can make such connections, so warnings are limited.
func (m *Manager) Stray(level btl.LogLevel, from string, err error) {
	who := m.Noun
	if from != "" {
		who += " from " + from
	}
	others := ""
	if level == btl.LogWarn {
		dropped, ok := m.Strays.Allow(m.loop.Now())
		if !ok {
			return
		}
		if dropped > 0 {
			others = fmt.Sprintf(" (and %d others since the last such line)", dropped)
		}
	}
	m.host.Logf(level, "%s: rank %d: dropped %s: %v%s", m.Name, m.host.Rank(), who, err, others)
}

// A Limiter lets one line a second through and counts the others: for what anybody on the
// network can cause.
type Limiter struct {
	next    int64
	dropped int
}

// Allow reports whether a line may be written now, and how many were kept back since the last
// one. Now is in nanoseconds of the loop's clock.
func (l *Limiter) Allow(now int64) (dropped int, ok bool) {
	if l.next != 0 && now < l.next {
		l.dropped++
		return 0, false
	}
	dropped, l.dropped = l.dropped, 0
	l.next = now + int64(time.Second)
	return dropped, true
}
