package datagram

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// A Clock has one timer of the loop for any number of alarms.
type Clock struct {
	loop   btl.Loop
	alarms []*Alarm // a heap: the one with the least key is the first
	timer  btl.Timer
	due    func() // fire
	at     int64  // when the timer is due; 0: it does not run
	firing bool
	now    int64 // of firing
}

// An Alarm is set to a time, again and again: mostly to a later one. It is part of what is to be called.
type Alarm struct {
	due   int64 // 0: not set
	key   int64 // its place in the heap is by this, which is not above due
	place int   // in the heap, from 1 on; 0: it is not there
	call  func(now int64)
}

// slack is by how much an alarm may be late, so that the timer need not be set anew for each packet. It is never
// early: who is called before the time finds nothing to do, and asks again.
const slack = int64(200 * time.Microsecond)

// NewClock returns a clock that goes by a loop's time.
func NewClock(loop btl.Loop) *Clock {
	c := &Clock{loop: loop}
	c.due = c.fire
	return c
}

// NewAlarm returns an alarm that calls f when it is due.
func NewAlarm(f func(now int64)) *Alarm { return &Alarm{call: f} }

// Set sets an alarm to a time of the loop's; 0: never. Setting it to a later time costs next to nothing: its
// place among the others is looked at when that has come up.
func (c *Clock) Set(a *Alarm, at int64) {
	if c.firing && at != 0 {
		at = max(at, c.now+1) // what is due at once is so at the next poll: others are due as well
	}
	a.due = at
	switch {
	case at == 0:
		return
	case a.place == 0:
		a.key = at
		c.alarms = append(c.alarms, a)
		a.place = len(c.alarms)
		c.up(a)
	case at < a.key:
		a.key = at
		c.up(a)
	}
	if !c.firing && (c.at == 0 || at < c.at-slack) {
		c.start(at)
	}
}

// Run calls what is due. The timer does that by itself, but not while the loop stands still.
func (c *Clock) Run() {
	c.firing = true
	now := c.loop.Now()
	c.now = now
	for len(c.alarms) > 0 && c.alarms[0].key <= now {
		a := c.alarms[0]
		switch {
		case a.due == 0:
			c.remove(a)
		case a.due > now:
			a.key = a.due
			c.down(a)
		default:
			c.remove(a)
			a.due = 0
			a.call(now)
		}
	}
	c.firing = false
	switch {
	case len(c.alarms) == 0:
		c.Stop()
	case c.at == 0 || c.alarms[0].key < c.at-slack || c.at <= now:
		c.start(c.alarms[0].key)
	}
}

// Stop stops the timer. Setting an alarm starts it again.
func (c *Clock) Stop() {
	if c.at != 0 {
		c.timer.Stop()
		c.at = 0
	}
}

// start has the timer be due at a time. It is made anew only if it can not be set anew.
func (c *Clock) start(at int64) {
	wait := time.Duration(max(at-c.loop.Now(), 0))
	if t, ok := c.timer.(btl.Rearmer); ok {
		t.Reset(wait)
	} else {
		c.Stop()
		c.timer = c.loop.After(wait, c.due)
	}
	c.at = at
}

func (c *Clock) fire() {
	c.at = 0
	c.Run()
}

func (c *Clock) remove(a *Alarm) {
	last := c.alarms[len(c.alarms)-1]
	c.alarms[len(c.alarms)-1] = nil
	c.alarms = c.alarms[:len(c.alarms)-1]
	if last != a {
		last.place = a.place
		c.alarms[last.place-1] = last
		c.up(last)
		c.down(last)
	}
	a.place = 0
}

func (c *Clock) up(a *Alarm) {
	for a.place > 1 {
		above := c.alarms[a.place/2-1]
		if above.key <= a.key {
			return
		}
		c.swap(a, above)
	}
}

func (c *Clock) down(a *Alarm) {
	for {
		i := 2 * a.place
		if i > len(c.alarms) {
			return
		}
		if i < len(c.alarms) && c.alarms[i].key < c.alarms[i-1].key {
			i++
		}
		below := c.alarms[i-1]
		if a.key <= below.key {
			return
		}
		c.swap(a, below)
	}
}

func (c *Clock) swap(a, b *Alarm) {
	a.place, b.place = b.place, a.place
	c.alarms[a.place-1], c.alarms[b.place-1] = a, b
}
