package engine

import "time"

// penalty decides whether spinning is worth it. If a yield takes long, others need
// the processor, and for a while waits park in place of it. In a crowd the others are mostly ranks that talk,
// and give the processor back soon. To yield to them costs less than to park and to be woken
// (docs/decisions/0056-more-ranks-than-processors.md).
type penalty struct {
	turn   int64         // there are more ranks than processors, and a yield to them may take so long; 0: there are not
	bound  bool          // the thread may use one processor only
	length time.Duration // of the time to park after the last slow yield
	until  int64         // waits park until then; 0: they spin
	last   int64         // when that time was set
	good   int           // quick yields since the last slow one
	found  bool          // the last yield has found somebody else
	shared int           // of so many yields to come none may find anybody else, before others are forgotten
}

const (
	// slowYield is less than the system gives to who computes, a millisecond or more. It is more than what threads take that look after
	// something for a moment, several in a row, and the interrupts that wake them, on a virtual machine too. Who parks for those
	// is woken where its peer runs.
	slowYield = int64(300 * time.Microsecond)
	// boundYield is that of a thread that may use one processor only. It is woken there wherever its peer runs. A peer that is bound to the
	// same one polls for some 100 µs before it yields, and each message would wait for that.
	boundYield = int64(60 * time.Microsecond)
	// crowdTurn is more than a yield takes in a crowd where all talk, and less than what the system
	// gives to who computes.
	crowdTurn    = time.Millisecond
	firstPenalty = 250 * time.Microsecond
	maxPenalty   = 100 * time.Millisecond
	goodYields   = 2_000
	quickBetween = 8 // slow yields with so many quick ones between are no sign
	// sharedYield is more than a yield takes when nobody else wants the processor.
	sharedYield = int64(1500 * time.Nanosecond)
)

// slow is what a yield takes that finds somebody who does not give the processor back soon.
func (p *penalty) slow() int64 {
	switch {
	case p.turn > 0:
		return p.turn
	case p.bound:
		return boundYield
	}
	return slowYield
}

// others is how much of a yield's time is not the waiter's own: others that wait as well have had it.
func (p *penalty) others(yieldTime int64) int64 {
	if yieldTime <= p.turn {
		return yieldTime
	}
	return 0
}

func (p *penalty) mustPark(now func() int64) bool {
	if p.until == 0 {
		return false
	}
	if now() < p.until {
		return true
	}
	p.until = 0
	return false
}

func (p *penalty) observe(now, yieldTime int64) {
	found := yieldTime > sharedYield
	switch {
	case found && p.found: // one alone may be a thread that looks after something for a moment
		p.shared = quickBetween
	case !found && p.shared > 0:
		p.shared--
	}
	p.found = found
	if yieldTime <= p.slow() {
		if p.good++; p.good >= goodYields {
			p.length = 0
		}
		return
	}
	alone := p.good >= quickBetween
	p.good = 0
	if alone {
		return // the system's own work, on what was sent perhaps
	}
	if now-p.last > 8*int64(p.length) {
		p.length = 0 // one now and then is not a habit
	}
	p.length = min(max(2*p.length, firstPenalty), maxPenalty)
	p.until, p.last = now+int64(p.length), now
}
