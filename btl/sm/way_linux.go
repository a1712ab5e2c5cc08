package sm

import (
	"math/bits"
	"sync/atomic"
)

// A long frame goes by one of two ways. Either the sender copies it into the ring, and the receiver out
// of it, at the same time. Or the sender lends it: the receiver reads it from the sender's
// memory by one copy of the system's. Which is sooner depends on where the bytes are. What the sender
// has just written comes sooner through the ring. What the receiver's cache has from the last time, or what no cache has, is
// read sooner where it is. So the receiver measures both, for each length, and tells which it wants. A measure is rough: who reads a lent frame is
// disturbed by less than who copies while the other does. So frames are lent where that is clearly sooner.
//
// Where ranks outnumber the processors that measure says too little. The sender's copy, which the receiver does not wait for,
// takes the processor from another rank, and the rings of many pairs do not stay in a cache. So there
// the length alone decides.

// ways is the number of lengths that are told apart: each is twice the one before.
const ways = 16

// wayOf is the place of a frame's length among those that are told apart.
func wayOf(size int) int { return min(bits.Len(uint(size)/wholeLimit), ways-1) }

// mayLend is the bit that says that the peer's memory can be read; bit i below it says that frames of length i
// should be lent, and bit i+mayTry that it may be tried to lend them.
const (
	mayLend = 1 << 63
	mayTry  = ways
)

const (
	// trial is how many frames in a row have to go by one way for the last of them to be measured. The first find
	// the bytes in those caches where the other way has left them.
	trial = 3
	// A trial goes by the other way after so many frames: soon at first and after a change, and then ever more seldom.
	soonAgain, seldomAgain = 8 * trial, 128 * trial
	// neverLent is the longest frame that is never lent. Its pages take the system longer than the second copy takes.
	neverLent = 32 << 10
	// crowdLends: in a crowd a frame of that length, or a longer one, is lent. A shorter one costs less by two
	// copies than by a system call and by an answer that it has been read. The message layer makes a copy of one up to 64 KB
	// (pml_copy_limit), so that nobody waits for an answer: not if it is lent.
	crowdLends = 64<<10 + 1
	// slowCopies: lending is tried only where copies take that long, in ns for each 64 KB. The system reads as much of another process
	// in 3 µs at best, pages that it has not read before in a hundred, and the thread may lose its processor meanwhile.
	// A trial costs a program that has just begun as much as some hundred frames, so there has to be something to gain.
	slowCopies = 8000
)

// choice is the sender's side: which frames it lends.
type choice struct {
	wants *atomic.Uint64 // what the peer says
	tries [ways]tries
}

// tries are those of the frames of a length.
type tries struct {
	trial  int  // frames of this trial that are to come
	steady int  // frames until the next one
	pause  int  // between trials
	wanted bool // what the peer has said last
}

// lends reports whether a frame of that length is lent. In a crowd what the peer has measured does not count.
func (c *choice) lends(size int, crowded bool) bool {
	wants := c.wants.Load()
	if wants&mayLend == 0 || size <= neverLent {
		return false
	}
	if crowded {
		return size >= crowdLends
	}
	i := wayOf(size)
	return c.tries[i].lends(wants>>i&1 != 0, wants>>(i+mayTry)&1 != 0)
}

// lends is choice.lends, where the peer wants frames of that length lent or copied, and a trial of lent ones or none.
func (t *tries) lends(wanted, try bool) bool {
	if wanted != t.wanted || t.pause == 0 {
		t.wanted, t.trial, t.steady, t.pause = wanted, 0, soonAgain, soonAgain
	}
	if t.steady == 0 {
		t.pause = min(2*t.pause, seldomAgain)
		t.steady = t.pause
		if wanted || try {
			t.trial = trial
		}
	}
	if t.trial > 0 {
		t.trial--
		return !wanted
	}
	t.steady--
	return wanted
}

// appraisal is the receiver's side: what frames have cost, by each way.
type appraisal struct {
	wants        *atomic.Uint64 // what the peer is told
	said         uint64
	lent, copied [ways]cost
	rows         [ways]row
}

// row is how many frames in a row came by the same way.
type row struct {
	lent bool
	n    int
}

// counts reports whether the next frame is to be measured.
func (r *row) counts(lent bool) bool {
	if r.lent != lent {
		*r = row{lent: lent}
	}
	r.n++
	return r.n >= trial
}

// cost is how long frames took, in ns for each 64 KB; 0: none has come yet.
type cost int64

func costOf(size int, took int64) cost { return cost(took<<16/int64(size)) + 1 }

// observe takes note of a frame. One that was interrupted counts for little, and one that took less than is known for all.
func (c *cost) observe(size int, took int64) {
	v := costOf(size, took)
	if *c == 0 || v < *c {
		*c = v
		return
	}
	*c += (min(v, 2**c) - *c) / 4
}

// allow says that the peer's memory can be read.
func (a *appraisal) allow() { a.say(a.said | mayLend) }

func (a *appraisal) say(what uint64) {
	if what != a.said {
		a.said = what
		a.wants.Store(what)
	}
}

// observe takes note of a frame that has come, and tells the sender what is wanted.
func (a *appraisal) observe(size int, took int64, lent bool) {
	i := wayOf(size)
	if a.said&mayLend == 0 || !a.rows[i].counts(lent) {
		return
	}
	c := &a.copied[i]
	if lent {
		c = &a.lent[i]
	}
	c.observe(size, took)
	says := a.said &^ (1 << (i + mayTry))
	if a.copied[i] >= slowCopies {
		says |= 1 << (i + mayTry)
	}
	switch lent, copied := a.lent[i], a.copied[i]; { // what is in between changes nothing
	case lent == 0 || copied == 0:
	case lent+lent/4 <= copied:
		says |= 1 << i
	case lent >= copied:
		says &^= 1 << i
	}
	a.say(says)
}
