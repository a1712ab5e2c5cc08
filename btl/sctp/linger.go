package sctp

import (
	"time"

	"github.com/strandmp/strand/btl"
)

const (
	// lingerTime is how long a closed connection may take to send its last bytes
	// and to hear the peer's end.
	lingerTime = 2 * time.Second
	// parting is how long closing the module waits for all of them.
	parting = 250 * time.Millisecond
)

// A linger is an association after its endpoint: it says goodbye, behind what was
// taken, and goes when the peer does, or when the peer's SCTP has everything and
// the peer is leaving too.
type linger struct {
	bystander
	*link
	m       *module
	timer   btl.Timer
	goodbye []byte // until it is said
	theirs  bool   // the peer has said goodbye as well
}

// leave lets an association end in order, after the goodbye, which is nil if it
// was never anybody's connection.
func (m *module) leave(a *link, goodbye []byte) {
	l := &linger{link: a, m: m, goodbye: goodbye}
	a.owner = l
	m.leaving[l] = struct{}{}
	l.timer = m.loop.After(lingerTime, l.finish)
	l.sayGoodbye()
}

// sayGoodbye says it once there is room.
func (l *linger) sayGoodbye() bool {
	if l.goodbye == nil {
		return false
	}
	switch l.Send(controlStream, ppidGoodbye, l.goodbye, nil) {
	case btl.Done:
		l.goodbye = nil
	case btl.Broken:
		l.finish()
	case btl.Busy:
		return false
	}
	return true
}

// work goes on if it can and reports whether anything was done.
func (l *linger) work() bool {
	did := l.sayGoodbye()
	if l.theirs && l.confirmed() {
		l.finish()
		return true
	}
	return did
}

func (l *linger) writable() { l.work() }

// confirmed reports whether the peer's SCTP has all that we have sent.
func (l *linger) confirmed() bool { return l.goodbye == nil && l.Queued() == 0 }

// receive drops what still comes, but for the peer's own goodbye.
func (l *linger) receive(stream uint16, ppid uint32, _ []byte, _ bool) {
	l.theirs = l.theirs || (stream == controlStream && ppid == ppidGoodbye)
}

func (l *linger) down(error) { l.finish() }

func (l *linger) finish() {
	if _, ok := l.m.leaving[l]; !ok {
		return
	}
	delete(l.m.leaving, l)
	l.timer.Stop()
	l.Abort()
}

// finishLeaving ends all lingering associations: each when the peer's SCTP has
// confirmed our last bytes or the peer has ended too, all after a short while.
func (m *module) finishLeaving() {
	// The loop does not run during the call, so this has a clock of its own.
	deadline := time.Now().Add(parting)
	for len(m.leaving) > 0 && time.Now().Before(deadline) {
		m.stack.Linger()
		for l := range m.leaving {
			l.work()
			if l.confirmed() {
				l.finish()
			}
		}
	}
	for l := range m.leaving {
		l.finish()
	}
}
