// Package commons is memory that ranks of one host have in common, for their collective calls.
//
// A call takes one step or several, which all ranks make in the same order. In a step a rank shows bytes to all others, or looks at what
// some of them show, or both. Then it is done with the step. Each rank has a place of its own for each of some steps that follow each
// other; it writes there again when all others are done with what it showed before. A place begins with a word that says of which
// step it is and how many bytes are shown. That word is written last. So who finds the word of a step finds the bytes too.
//
// A rank that has looked for long, and is about to sleep, says in the memory for whom it waits, and looks once more. Who has shown
// something looks who waits for that, and wakes it by a message. Either the sleeper sees the word or the other
// sees the sleeper: package sync/atomic keeps both orders.
//
// What is in the memory is what ranks of the same job write, but nothing that another rank writes there makes this one go beyond its
// memory, or wait without an end: lengths are compared with what the caller expects, and whoever waits does so for a message.
package commons

import (
	"fmt"
	"math"
	"sync/atomic"
	"unsafe"

	"github.com/strandmp/strand/internal/coherence"
	"github.com/strandmp/strand/internal/sealed"
)

const (
	line       = 64
	page       = 4 << 10
	wordSize   = 8
	markSize   = 16
	lenderSize = 4 * wordSize // of what says of a rank whose memory the others may read
	// lengthBits of a place's word are the number of bytes shown, and the highest of these says that they are where others are, which the
	// rank lends. Those above are the step. It comes round: what a place had before is the step that is so many earlier as there are places.
	lengthBits = 24
	loanBit    = 1 << (lengthBits - 1)
	stepMask   = 1<<(64-lengthBits) - 1
	// callAt is where the call's number begins in the word of a rank's standing. Below it are the step's number within the call and, lowest,
	// the area. All may come round: of two words that are compared none is far ahead.
	callAt = 32
)

// Steps are short or long. Each kind has an area of its own, with places for so many steps that follow each other: a rank may
// be that far ahead of those who have not looked yet. Short steps are many.
const (
	shortRoom  = 4 << 10
	shortDepth = 8
	longDepth  = 4
)

// A Ticket is what rank 0 tells the others, so that they find the memory: a process, its descriptor, and a mark.
type Ticket [2*wordSize + markSize]byte

// Empty reports whether there is no memory.
func (t *Ticket) Empty() bool { return *t == Ticket{} }

// Awaited is what a rank may wait for of another one.
type Awaited uint64

const (
	// Shown: that it has shown its bytes of this step.
	Shown Awaited = iota
	// Past: that it is done with the step of which the place is that is to be written next.
	Past
)

// An area is where steps of one kind are shown. It has a line for each rank, which says with which step the rank is done, and the places
// of all ranks. In the first area the line says too where the rank stands, in which step of which call, and whether it has left a call early.
type area struct {
	depth, room int
	dones       int    // where the lines are
	step        uint64 // which this rank makes now; the first is 1
	past        uint64 // all ranks are done with this step and those before, as far as is known
	next        int    // the rank that is asked next whether it is
	least       uint64 // those that were asked before are all done with this step
}

func lines(n int) int { return (n + line - 1) &^ (line - 1) }

// size is how many bytes a place has.
func (a *area) size() int { return lines(wordSize + a.room) }

// place is where what a rank shows in this step begins.
func (a *area) place(rank, ranks int) int {
	return a.dones + ranks*line + (rank*a.depth+int(a.step%uint64(a.depth)))*a.size()
}

// end is where the area ends.
func (a *area) end(ranks int) int { return a.dones + ranks*(line+a.depth*a.size()) }

// lenders is where it is said of each rank whose memory the others may read: behind a page with the mark, and a word for each rank that says
// for whom it waits.
func lenders(ranks int) int { return page + lines(ranks*wordSize) }

// areas are those of so many ranks, and where they end.
func areas(ranks, room int) (all [2]area, end int) {
	all = [2]area{{depth: shortDepth, room: min(room, shortRoom)}, {depth: longDepth, room: room}}
	end = lenders(ranks) + lines(ranks*lenderSize)
	for i := range all {
		a := &all[i]
		a.step, a.least, a.dones = 1, math.MaxUint64, end
		end = a.end(ranks)
	}
	return all, end
}

// Size is how many bytes of memory so many ranks take that show up to room bytes at a time.
func Size(ranks, room int) int {
	_, end := areas(ranks, room)
	return end
}

// A Memory is one rank's view of the memory. It is for one goroutine at a time.
type Memory struct {
	mem        []byte
	ranks, own int
	order      sealed.Order
	areas      [2]area
	now        *area  // of the step that is being made
	standing   uint64 // what the others read of this rank
	lending    lending
	written    int // bytes of the place, in this step
}

func newMemory(mem []byte, own, ranks, room int, o sealed.Order) *Memory {
	m := &Memory{mem: mem, ranks: ranks, own: own, order: o}
	m.areas, _ = areas(ranks, room)
	m.now = &m.areas[0]
	return m
}

func (m *Memory) word(at int) *atomic.Uint64 { return (*atomic.Uint64)(unsafe.Pointer(&m.mem[at])) }

// Room is how many bytes a rank can show in a step.
func (m *Memory) Room() int { return m.areas[1].room }

// Begin begins a step in which no rank shows more than n bytes, of a call with that number. All ranks give the same n.
func (m *Memory) Begin(n int, call uint64) {
	area := uint64(0)
	if n > m.areas[0].room {
		area = 1
	}
	m.now = &m.areas[area]
	ordinal := uint32(0)
	if uint32(m.standing>>callAt) == uint32(call) {
		ordinal = uint32(m.standing)&^1 + 2
	}
	m.standing = call<<callAt | uint64(ordinal) | area
	m.stands(m.own).Store(m.standing)
}

// stands is the word that says where a rank stands.
func (m *Memory) stands(rank int) *atomic.Uint64 {
	return m.word(m.areas[0].dones + rank*line + wordSize)
}

// Leave says that this rank leaves a call early. What it has lent is its owner's again.
func (m *Memory) Leave() { m.left(m.own).Store(1) }

// HasLeft reports whether another rank has left a call early. If it has not, what was read before was what it has lent. Some
// processors may load a word before what the program reads before it, but none adds to it before that.
func (m *Memory) HasLeft(rank int) bool { return m.left(rank).Add(0) != 0 }

// left is the word that says whether a rank has left a call early.
func (m *Memory) left(rank int) *atomic.Uint64 {
	return m.word(m.areas[0].dones + rank*line + 2*wordSize)
}

// Reader returns a rank that still may look at what this one has shown before in the place of this step; −1: the place is free.
func (m *Memory) Reader() int {
	a := m.now
	depth := uint64(a.depth)
	if a.step <= depth || a.past >= a.step-depth {
		return -1
	}
	for ; a.next < m.ranks; a.next++ {
		if a.next == m.own {
			continue
		}
		done := m.word(a.dones + a.next*line).Load()
		if done < a.step-depth {
			return a.next
		}
		a.least = min(a.least, done)
	}
	a.past, a.next, a.least = a.least, 0, math.MaxUint64
	return -1
}

// Place is where to write n bytes that this rank is about to show. The place must be free.
func (m *Memory) Place(n int) []byte {
	from := m.now.place(m.own, m.ranks) + wordSize
	return m.mem[from : from+n : from+n]
}

// Show shows the first n bytes of the place. Lends says that they tell of other bytes, which the rank lends.
func (m *Memory) Show(n int, lends bool) {
	word := m.now.step<<lengthBits | uint64(n)
	if lends {
		word |= loanBit
	}
	m.order.Wrote()
	m.word(m.now.place(m.own, m.ranks)).Store(word)
	m.written = wordSize + n
}

// Has reports whether another rank has done what is waited for.
func (m *Memory) Has(rank int, what Awaited) bool {
	a := m.now
	if what == Past {
		return m.word(a.dones+rank*line).Load() >= a.step-uint64(a.depth)
	}
	return m.word(a.place(rank, m.ranks)).Load()>>lengthBits == a.step&stepMask
}

// Beyond reports whether another rank has begun a later step than this one, or another kind of it. If it has not done what is waited for
// in this one either, it never will. One that has begun no step yet, so that there is nothing to compare, is not beyond.
func (m *Memory) Beyond(rank int) bool {
	theirs := m.stands(rank).Load()
	return theirs != 0 && (int64(theirs-m.standing) > 0 || theirs == m.standing^1)
}

// Behind reports whether another rank is still in a call before this one.
func (m *Memory) Behind(rank int) bool {
	return int32(uint32(m.stands(rank).Load()>>callAt)-uint32(m.standing>>callAt)) < 0
}

// Spin looks so often whether a rank has done what is waited for.
func (m *Memory) Spin(rank int, what Awaited, looks int) bool {
	for range looks {
		if m.Has(rank, what) {
			return true
		}
		coherence.Pause()
	}
	return false
}

// Look returns what a rank shows in this step, once it has ([Memory.Has]), and whether that tells of what it lends. The bytes are there until
// End.
func (m *Memory) Look(rank int) (b []byte, lends bool, err error) {
	at := m.now.place(rank, m.ranks)
	word := m.word(at).Load()
	n := int(word & (loanBit - 1))
	if n > m.now.room {
		return nil, false, fmt.Errorf("malformed memory: rank %d shows %d bytes, where there is room for %d", rank, n, m.now.room)
	}
	m.order.Reads()
	return m.mem[at+wordSize : at+wordSize+n : at+wordSize+n], word&loanBit != 0, nil
}

// SawAll notes that all ranks have shown this step: so they are done with the one before.
func (m *Memory) SawAll() {
	a := m.now
	a.past, a.next, a.least = max(a.past, a.step-1), 0, math.MaxUint64
}

// End ends this rank's part in the step: it does not look at what others have shown any more.
func (m *Memory) End() {
	a := m.now
	m.order.Wrote()
	m.word(a.dones + m.own*line).Store(a.step)
	a.step++
	if m.written > 0 {
		m.lookAhead()
	}
}

// lookAhead fetches what this rank writes in the next step, if that is as much as in this one and of the same kind. Others may look there all the time.
func (m *Memory) lookAhead() {
	if m.written <= coherence.Least {
		coherence.FetchToWrite(unsafe.Pointer(&m.mem[m.now.place(m.own, m.ranks)]), m.written)
	}
	m.written = 0
}

// Wait says that this rank sleeps until another one has done something. The caller looks once more.
func (m *Memory) Wait(rank int) { m.word(page + m.own*wordSize).Store(uint64(rank) + 1) }

// Awake takes back what Wait has said. It is false if the other rank has seen it before, and wakes this one.
func (m *Memory) Awake() bool { return m.word(page+m.own*wordSize).Swap(0) != 0 }

// Sleeper returns a rank, from one on, that sleeps until this one has done something, or −1. The caller wakes it: nobody else does. It may
// find that what it waits for is not done yet.
func (m *Memory) Sleeper(from int) int {
	for want := uint64(m.own) + 1; from < m.ranks; from++ {
		if w := m.word(page + from*wordSize); w.Load() == want && w.CompareAndSwap(want, 0) {
			return from
		}
	}
	return -1
}
