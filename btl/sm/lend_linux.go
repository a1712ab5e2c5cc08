package sm

import (
	"unsafe"

	"github.com/strandmp/strand/btl"
)

// A frame that is lent stays in the sender's memory. Its record in the ring says where, and in what
// state it is. The state is changed by compare-and-swap only. So either the receiver claims the
// frame, after it has read it, or the sender has taken it back before: what was read is not used then.
// Nobody ever waits for the other.
//
//	lent ──→ begun ──→ taken        the receiver begins, and claims
//	  │        │
//	  │        └─────→ moved        the sender wants its memory back: there is a copy
//	  ├──────────────→ moved
//	  ├──────────────→ recalled     the sender takes the frame back: it never was
//	  └─(begun, moved)→ recalled    the connection is over
//	moved ───────────→ taken        the receiver has read the copy
const (
	stateLent = iota
	stateBegun
	stateTaken
	stateMoved
	stateRecalled
)

// maxLoans bounds the frames that are lent at a time.
const maxLoans = 64

// A loan is a frame that was lent.
type loan struct {
	f    *btl.Frame
	slot []byte // that says where it is, behind the word
	end  uint64 // the records up to its own
	ours bool   // the frame is a copy of our own
}

// lendable reports whether a frame can be lent: it has one piece of memory, and there is a place in the list.
func (p *pipe) lendable(f *btl.Frame) bool {
	return len(f.More) == 0 && len(p.loans) < maxLoans && p.choice.lends(f.Size, p.m.crowded)
}

// lend announces a frame, and reports whether there was room for that.
func (p *pipe) lend(f *btl.Frame) bool {
	if _, ok := p.out.room(0); !ok {
		return false
	}
	slot := p.out.here()
	*(*uint64)(unsafe.Pointer(&slot[stateAt])) = stateLent
	*(*uint64)(unsafe.Pointer(&slot[addressAt])) = addressOf(f)
	copy(slot[loanSize:], f.Header)
	p.out.publish(wordOf(kindLent, len(f.Header), f.Size), line, 0)
	if p.loans == nil {
		p.loans = make([]loan, 0, maxLoans)
	}
	p.loans = append(p.loans, loan{f: f, slot: slot, end: p.out.count})
	p.lent += f.Size
	return true
}

func addressOf(f *btl.Frame) uint64 { return uint64(uintptr(unsafe.Pointer(&f.Payload[0]))) }

// isBack reports whether the receiver has claimed the frame. Once it is known that the record was read
// there may be another one in its place.
func (p *pipe) isBack(l *loan) bool {
	return l.end <= p.out.seen || at(l.slot, stateAt).Load() == stateTaken
}

// back returns the oldest loan if its frame is back, and strikes it off the list. The frame is nil
// if it was a copy of our own.
func (p *pipe) back() (f *btl.Frame, ok bool) {
	if len(p.loans) == 0 || !p.isBack(&p.loans[0]) {
		return nil, false
	}
	l := p.loans[0]
	p.strike(0)
	if l.ours {
		return nil, true
	}
	return l.f, true
}

func (p *pipe) strike(i int) {
	p.lent -= p.loans[i].f.Size
	last := len(p.loans) - 1
	copy(p.loans[i:], p.loans[i+1:])
	p.loans[last] = loan{}
	p.loans = p.loans[:last]
}

// copyLoan replaces the frame by a copy of our own. The receiver reads that, if it has not claimed the frame
// before. It returns how many bytes were copied.
func (p *pipe) copyLoan(l *loan) int {
	if l.ours || p.isBack(l) {
		return 0
	}
	own := &btl.Frame{Payload: append([]byte(nil), l.f.Payload[:l.f.Size]...), Size: l.f.Size}
	at(l.slot, copyAt).Store(addressOf(own))
	l.f, l.ours = own, true
	state := at(l.slot, stateAt)
	if !state.CompareAndSwap(stateLent, stateMoved) {
		state.CompareAndSwap(stateBegun, stateMoved)
	}
	return own.Size
}

// copyLoans has the host's memory be free, though all frames still arrive.
func (p *pipe) copyLoans() {
	for i := range p.loans {
		p.copyLoan(&p.loans[i])
	}
}

// recallLoans takes back what the receiver has not begun to read, and copies the frame that it has begun. It returns the
// length of that copy.
func (p *pipe) recallLoans() (copied int) {
	for i := len(p.loans) - 1; i >= 0; i-- {
		l := &p.loans[i]
		switch {
		case l.ours:
		case p.isBack(l), at(l.slot, stateAt).CompareAndSwap(stateLent, stateRecalled):
			p.strike(i)
		default:
			copied += p.copyLoan(l)
		}
	}
	return copied
}

// endLoans takes back everything: the connection is over, and the memory is the host's again.
func (p *pipe) endLoans() {
	for i := range p.loans {
		if l := &p.loans[i]; l.end > p.out.seen {
			at(l.slot, stateAt).Store(stateRecalled)
		}
	}
	p.loans, p.lent = nil, 0
}
