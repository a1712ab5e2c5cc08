package sm

import (
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/wireup"
)

// A linger is a connection after its endpoint: it writes what waits, then a goodbye, and stays
// until the peer's end.
type linger struct {
	m *module
	p *pipe
}

var (
	_ wireup.Leaver = (*linger)(nil)
	_ owner         = (*linger)(nil)
)

// leave lets a connection end in order, after the frames that wait. It copies those, since their
// memory is the host's again.
func (m *module) leave(p *pipe) {
	l := &linger{m: m, p: p}
	p.owner, p.parting = l, true
	p.keep()
	m.wire.Leave(l)
	if l.Work(); !p.closed && p.waits() {
		p.await()
	}
}

// Work implements [wireup.Leaver].
func (l *linger) Work() bool {
	if l.p.closed {
		return false
	}
	return l.progress() || l.event()
}

// progress implements owner: it writes what waits, and then the goodbye.
func (l *linger) progress() bool {
	p := l.p
	if !p.waits() || p.closed {
		return false
	}
	_, _, did := p.push()
	for {
		if _, ok := p.back(); !ok {
			break
		}
		did = true
	}
	if p.out.err != nil {
		l.m.wire.Left(l)
		return true
	}
	if p.parting && p.first == nil && p.out.goodbye() {
		p.parting, did = false, true
		p.wake(sleeps)
		_ = unix.Shutdown(p.fd, unix.SHUT_WR) // the peer may be gone
	}
	return did
}

// event implements owner.
func (l *linger) event() bool {
	did, end := l.p.heard()
	if end != nil {
		l.m.wire.Left(l)
	}
	return did
}

// hears implements owner.
func (l *linger) hears() bool { return false }

// Confirmed implements [wireup.Leaver]: the peer can read whatever is written, even after this
// process has ended. What is lent it can not.
func (l *linger) Confirmed() bool { return !l.p.waits() }

// End implements [wireup.Leaver].
func (l *linger) End() { l.p.close() }
