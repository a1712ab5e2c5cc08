package sctp

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// A linger is an association after its endpoint. It says goodbye behind what was taken.
// It ends when the peer ends the association, or when the peer has said goodbye as well:
// then the peer drops what it gets.
type linger struct {
	*link
	member  bool   // the peer has proved itself
	goodbye []byte // until it is said
	theirs  bool   // the peer has said goodbye as well
}

var _ wireup.Leaver = (*linger)(nil)

// leave lets an association end in order, after the goodbye. Goodbye is nil if no
// endpoint ever had the association.
func (m *module) leave(l *link, goodbye []byte) {
	l.ep, l.linger = nil, &linger{link: l, member: goodbye != nil, goodbye: goodbye}
	m.Wire.Leave(l.linger)
	l.linger.sayGoodbye()
}

// sayGoodbye says goodbye if there is room, and reports whether anything has changed.
func (l *linger) sayGoodbye() bool {
	if l.goodbye == nil {
		return false
	}
	switch l.assoc.Send(controlStream, ppidGoodbye, l.goodbye, nil) {
	case btl.Done:
		l.goodbye = nil
	case btl.Broken:
		l.m.Wire.Left(l)
	case btl.Busy:
		return false
	}
	return true
}

// Work implements [wireup.Leaver].
func (l *linger) Work() bool {
	did := l.sayGoodbye()
	if l.theirs && l.Confirmed() {
		l.m.Wire.Left(l)
		return true
	}
	return did
}

// Confirmed implements [wireup.Leaver]: the peer's SCTP has all that we have sent, or the
// peer has left and drops what it gets.
func (l *linger) Confirmed() bool { return l.theirs || l.goodbye == nil && l.assoc.Queued() == 0 }

// receive drops what still comes, but for the peer's own goodbye.
func (l *linger) receive(stream uint16, ppid uint32) {
	l.theirs = l.theirs || (stream == controlStream && ppid == ppidGoodbye)
}

// End implements [wireup.Leaver]. The association is left to the system only where the module
// closes. While the module is open the peer must be able to come back at once, so nothing may be
// left of the old association. And a stranger is to occupy the system no longer than this module.
func (l *linger) End() {
	if l.m.closed && l.member && l.goodbye == nil {
		l.assoc.Release()
		return
	}
	l.assoc.Abort()
}
