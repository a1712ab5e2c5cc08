package recovery

// flight is what was sent and not forgotten: a ring of packets by their numbers.
//
//	     forgotten │ kept: arrived, lost or under way │ not sent
//	───────────────┼───────────────┬──────────────────┼──────────
//	              first         undecided            next
//
// No packet below undecided is under way: each has arrived or is lost. Lost ones are kept for a while,
// since they may have been late only.
type flight[T any] struct {
	ring                   []packet[T] // its length is a power of two
	first, undecided, next uint64
	bytes                  int // under way
}

type fate uint8

const (
	underWay fate = iota
	arrived
	lost
	skipped // never sent: who acknowledges it lies
	untaken // the system says that it has not taken it
)

type packet[T any] struct {
	fate fate
	kind Kind
	size int32
	hop  uint32 // where it has arrived, and so have the next ones: how many, with this one; at least 1
	nth  uint32 // among those that the system has taken: the low bits
	sent int64
	what T
}

const leastRing = 64

func (f *flight[T]) at(n uint64) *packet[T] { return &f.ring[n&uint64(len(f.ring)-1)] }

// add gives a packet its number. What the packet is it writes to its place: one that was made elsewhere would be copied
// twice.
func (f *flight[T]) add(to fate, kind Kind, size int, sent int64, what T) uint64 {
	if f.next-f.first == uint64(len(f.ring)) {
		f.extend()
	}
	n := f.next
	p := f.at(n)
	p.fate, p.kind, p.size, p.hop, p.sent, p.what = to, kind, int32(size), 0, sent, what
	f.next++
	if to == underWay {
		f.bytes += size
	}
	return n
}

func (f *flight[T]) extend() {
	old := *f
	f.ring = make([]packet[T], max(leastRing, 2*len(old.ring)))
	for n := f.first; n < f.next; n++ {
		*f.at(n) = *old.at(n)
	}
}

// missing returns the first number, not below n, that has not arrived. A row of numbers that have is
// walked through once only: it is one hop from then on.
func (f *flight[T]) missing(n uint64) uint64 {
	end := n
	for end < f.next && f.at(end).fate == arrived {
		end += uint64(f.at(end).hop)
	}
	for n < end {
		p := f.at(n)
		hop := uint64(p.hop)
		p.hop = uint32(end - n)
		n += hop
	}
	return end
}

// decide ends a packet that was under way, and returns what it carried.
func (f *flight[T]) decide(n uint64, to fate) (what T) {
	p := f.at(n)
	what = p.what
	var none T
	p.what = none
	if p.fate == underWay {
		f.bytes -= int(p.size)
	}
	p.fate, p.hop = to, 1
	return what
}

// forget drops what nothing more can be learnt from: what has arrived or was not taken, and what was sent before a
// time and is lost.
func (f *flight[T]) forget(before int64) {
	for f.first < f.undecided {
		if p := f.at(f.first); (p.fate == lost || p.fate == skipped) && p.sent > before {
			return
		}
		f.first++
	}
}

// pass has undecided be the oldest that is under way.
func (f *flight[T]) pass() {
	for f.undecided < f.next && f.at(f.undecided).fate != underWay {
		f.undecided++
	}
}
