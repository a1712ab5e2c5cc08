package engine

import (
	"math/rand/v2"
	"time"
)

// company notices that a spinning waiter shares its processor with another
// spinning thread. Two ranks that talk to each other do that after a rest, as each
// is woken where the other runs. Both keep giving up the processor to each other, so
// neither looks starved, and the system leaves them together for tens of
// milliseconds. Other processors are idle meanwhile, and every message waits until
// the other's turn is over (two processors, half a round trip of 8 B: 15 µs instead
// of 7).
//
// The cure is [moveAway]. Parking is none: the sender wakes the other on its own
// processor again. The other thread sees the same long yields, and must not move to
// the same place at the same time. So each bears a random number of them.
type company struct {
	long  int           // long yields with few short ones between
	cpu   int           // the processor when they began
	bears int           // long yields before it moves, by chance; 0: not drawn yet
	short int           // short yields since the last long one
	pause time.Duration // after the last move
	next  int64         // no move before this time
}

const (
	// longYield is more than it takes to find that nobody else wants the processor.
	longYield = int64(3 * time.Microsecond)
	// minLong to maxLong long yields in a row are company.
	minLong, maxLong = 3, 10
	// slowCounts is how many long yields a slow one counts for. There are few slow ones, since
	// they make waits park, and a parked waiter does not yield.
	slowCounts = 8
	// alone is how many short yields in a row show that nobody else is there.
	alone = 64
	// A move costs some 30 µs. Where it does not help, because all processors are
	// taken, it is tried more and more seldom.
	firstPause = 250 * time.Microsecond
	maxPause   = 32 * time.Millisecond
)

// observe notes a yield, and reports whether to move away.
func (c *company) observe(now, yieldTime int64) bool {
	if yieldTime <= longYield {
		if c.short++; c.short > quickBetween {
			c.long = 0
		}
		if c.short > alone {
			c.pause = 0 // the last move has helped
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

// mayMove is observe for who knows that another rank waits on the same processor.
func (c *company) mayMove(now int64) bool {
	if now < c.next {
		return false
	}
	c.long, c.bears, c.next = 0, 0, now+int64(firstPause)
	return true
}

// part moves the calling thread away, unless the system has moved it by now: a second move could
// bring it back to the other thread. It reports whether the thread is elsewhere now.
func (c *company) part(move func()) bool {
	before := c.cpu
	if !c.moved() {
		move()
	}
	c.noteProcessor()
	return c.cpu != before
}

// moved reports whether the waiter runs on another processor than when it began to spin.
func (c *company) moved() bool {
	cpu, _ := processor()
	return cpu != c.cpu
}
