package wireup

import (
	"maps"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/overdue"
)

const (
	// lingerTime is how long a closed connection may take to send its last bytes and to
	// hear the peer's end.
	lingerTime = 2 * time.Second
	// farewell bounds how long closing the module waits for all of them, unless
	// [Config.Farewell] is longer.
	farewell = 250 * time.Millisecond
)

// A Leaver is a connection whose endpoint has gone, or one that was refused. It sends its last
// bytes and waits for the peer to end it.
type Leaver interface {
	// Work sends and reads what is possible and reports whether anything was done. When
	// there is nothing left to do, or to hope for, it calls [Manager.Left].
	Work() bool
	// Confirmed reports whether the peer's system has all that was sent, or the peer wants no
	// more of it. While the module closes, such a connection need not be waited for.
	Confirmed() bool
	// End ends the connection. Nothing is called afterwards. While the module closes, bytes that
	// are not confirmed are left to our system, if it goes on to send them.
	End()
}

// Leave has a connection leave, for two seconds at most: until it calls [Manager.Left], or the module is
// closed. A process that was stopped meanwhile has a moment more. The transport goes on to watch it, and calls its
// Work when something has come or there is room.
func (m *Manager) Leave(l Leaver) {
	m.leaving[l] = overdue.After(m.loop, lingerTime, func() { m.Left(l) })
}

// Left ends a connection that was leaving, by [Leaver.End], unless that was done before.
func (m *Manager) Left(l Leaver) {
	timer, ok := m.leaving[l]
	if !ok {
		return
	}
	delete(m.leaving, l)
	timer.Stop()
	l.End()
}

// Leaving are the connections that are leaving.
func (m *Manager) Leaving() []Leaver { return slices.Collect(maps.Keys(m.leaving)) }

// Work has all connections that are leaving work, and reports whether anything was done: for a transport
// that does not watch each of them.
func (m *Manager) Work() bool {
	did := false
	for l := range m.leaving {
		did = l.Work() || did
	}
	return did
}

// finishLeaving ends all of them: each when the peer's system has confirmed our last bytes or
// the peer has ended too, and those that are left when the time is over. Each works once more
// right before its end, since the system drops our last bytes if something that has arrived is not
// read.
func (m *Manager) finishLeaving() {
	// The loop does not run during the call, so the deadline is by the system's clock.
	for deadline := time.Now().Add(max(farewell, m.Farewell)); len(m.leaving) > 0; m.transport.Linger() {
		late := time.Now().After(deadline)
		for l := range m.leaving {
			l.Work()
			if _, still := m.leaving[l]; still && (late || l.Confirmed()) {
				m.Left(l)
			}
		}
		if len(m.leaving) == 0 {
			return
		}
	}
}
