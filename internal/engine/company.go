package engine

import (
	"math/rand/v2"
	"time"
)

// company notices that a spinning waiter shares its processor with another
// spinning thread, as two ranks that talk to each other do after a rest: each is
// woken where the other runs. Since both keep giving up the processor to each
// other neither looks starved, and the system leaves them together for tens of
// milliseconds, while other processors are idle and every message waits until the
// other's turn is over (two processors, half a round trip of 8 B: 15 µs instead
// of 7).
//
// The cure is [moveAway]. Parking does not do it: who sends wakes the other on its
// own processor again. The other thread sees the same long yields and must not move
// to the same place at the same time, so each bears a random number of them.
type company struct {
	long  int           // long yields with few short ones between
	cpu   int           // the processor when they began
	bears int           // of them before it moves; 0: not drawn yet
	short int           // short yields since the last long one
	pause time.Duration // after the last move
	next  int64         // no move before this time
}

const (
	// longYield is more than it takes to find that nobody else wants the processor.
	longYield = int64(3 * time.Microsecond)
	// minLong to maxLong long yields in a row are company.
	minLong, maxLong = 3, 10
	// slowCounts is how many long yields a slow one counts for. Slow ones are few: they make
	// waits park, and a parked waiter yields to nobody.
	slowCounts = 8
	// A move costs some 30 µs. Where it does not help, because all processors are
	// taken, it is tried more and more seldom.
	firstPause = 250 * time.Microsecond
	maxPause   = 32 * time.Millisecond
)

// observe is told of each yield, and reports whether to move away.
func (c *company) observe(now, yieldTime int64) bool {
	if yieldTime <= longYield {
		if c.short++; c.short > quickBetween {
			c.long = 0
		}
		return false
	}
	c.short = 0
	if c.bears == 0 {
		c.bears = minLong + rand.IntN(maxLong-minLong+1)
	}
	c.long++
	if yieldTime > slowYield {
		c.long += slowCounts - 1
	}
	if c.long < c.bears || now < c.next {
		return false
	}
	c.long, c.bears = 0, 0
	if now-c.next > 4*int64(c.pause) {
		c.pause = 0 // it helped, for a while
	}
	c.pause = min(max(2*c.pause, firstPause), maxPause)
	c.next = now + int64(c.pause)
	return true
}

// noteProcessor remembers where the waiter spins.
func (c *company) noteProcessor() { c.cpu, _ = processor() }

// part moves the calling thread away, unless the system has done so by now: a second move would
// bring it back to the other one.
func (c *company) part(move func()) {
	if !c.moved() {
		move()
	}
	c.noteProcessor()
}

// moved reports whether the waiter runs on another processor than when it began to spin.
func (c *company) moved() bool {
	cpu, _ := processor()
	return cpu != c.cpu
}
