package broken

import (
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/mem"
)

// keeping is a link to an endpoint that keeps what it has passed on.
type keeping struct{ *Link }

func (k keeping) link() *Link { return k.Link }

func (k keeping) Kept(f *btl.Frame) uint64 { return k.inner.(btl.Keeper).Kept(f) }

func (k keeping) Again(place uint64, b []byte) bool {
	if again := k.m.c.fault.again; again != nil {
		return again(k.Link, place, b)
	}
	return k.keptAt(place, b)
}

// keptAt is what the correct transport keeps.
func (l *Link) keptAt(place uint64, b []byte) bool { return l.inner.(btl.Keeper).Again(place, b) }

// Save implements [btl.Saver].
func (l *Link) Save() {
	if l.m.c.fault.save != nil {
		l.m.c.fault.save(l)
		return
	}
	l.saySave()
}

func (l *Link) saySave() {
	if s, ok := l.r.(btl.Saver); ok {
		s.Save()
	}
}

// keptFaults are those of Keeper and Saver.
var keptFaults = keepers(
	Fault{Name: "reads other bytes again than it was given",
		again: func(l *Link, place uint64, b []byte) bool {
			there := l.keptAt(place, b)
			if there && l.nth(5) {
				b[len(b)-1] ^= 1
			}
			return there
		}},
	Fault{Name: "reads again what is the sender's memory",
		send: func(l *Link, f *btl.Frame, lane int) btl.Result {
			result := l.inner.Send(f, lane)
			if result == btl.Done {
				l.pieces = append(l.pieces, f.Payload)
			}
			return result
		},
		again: func(l *Link, place uint64, b []byte) bool {
			there := l.keptAt(place, b)
			if there && len(l.pieces[place]) == len(b) {
				copy(b, l.pieces[place])
			}
			return there
		}},
	Fault{Name: "takes for kept what was overwritten",
		again: func(l *Link, place uint64, b []byte) bool {
			if !l.keptAt(place, b) {
				clear(b)
			}
			return true
		}},
	Fault{Name: "has lost what nobody has read",
		again: func(l *Link, place uint64, b []byte) bool { return !l.nth(7) && l.keptAt(place, b) }},
	Fault{Name: "writes beyond what it reads again",
		again: func(l *Link, place uint64, b []byte) bool {
			if cap(b) > len(b) {
				b[:len(b)+1][len(b)] = 0
			}
			return l.keptAt(place, b)
		}},
	Fault{Name: "does not say Save",
		save: func(*Link) {}},
	Fault{Name: "says Save when what it kept has gone",
		save: func(l *Link) {
			l.isGone = true
			l.saySave()
		},
		again: func(l *Link, place uint64, b []byte) bool { return !l.isGone && l.keptAt(place, b) }},
	Fault{Name: "says Save twice",
		save: func(l *Link) {
			l.saySave()
			l.saySave()
		}},
	Fault{Name: "says Save when Down has been said",
		save: func(*Link) {},
		down: func(l *Link, err error) {
			l.r.Down(err)
			l.saySave()
		}},
	Fault{Name: "says Save and goes on",
		tick: func(l *Link) {
			if l.isUp && l.nth(4) {
				l.saySave()
			}
		}},
)

// keepers are faults of a transport that keeps something.
func keepers(faults ...Fault) []Fault {
	for i := range faults {
		f := &faults[i]
		f.Case, f.Rule = "kept", "kept"
		f.config = func(c *mem.Config) { c.Keeps = 8 }
		f.extend = func(l *Link) btl.Endpoint { return keeping{l} }
	}
	return faults
}
