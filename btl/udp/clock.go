package udp

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// clock has one timer of the loop for all connections of a module. Those that wait for a time are few: what
// is idle waits for nothing.
type clock struct {
	loop    btl.Loop
	waiting map[*endpoint]struct{}
	timer   btl.Timer
	at      int64 // when the timer is due; 0: there is none
	beat    btl.Timer
	due     func() // fire
}

// slack is by how much a timer may be late, so that it need not be set anew for each packet.
const slack = int64(200 * time.Microsecond)

// set has an endpoint's tick called at a time; 0: never.
func (c *clock) set(ep *endpoint, at int64) {
	ep.due = at
	if at == 0 {
		return // it is taken out when the timer fires
	}
	if !ep.waits {
		ep.waits = true
		c.waiting[ep] = struct{}{}
	}
	if c.at == 0 || at < c.at-slack {
		c.start(at)
	}
}

func (c *clock) start(at int64) {
	c.stop()
	if c.due == nil {
		c.due = c.fire
	}
	c.at = at
	c.timer = c.loop.After(time.Duration(max(at-c.loop.Now(), 0)), c.due)
}

func (c *clock) stop() {
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	c.at = 0
}

// beats has peers that are silent asked whether they are there.
func (m *module) beats() {
	if m.cfg.heartbeat == 0 {
		return
	}
	m.clock.beat = m.clock.loop.After(max(m.cfg.heartbeat/4, time.Millisecond), m.beats)
	now := m.clock.loop.Now()
	for _, l := range m.peers {
		if ep := l.ep; ep != nil && ep.sender.live() && ep.sender.path.UnderWay() == 0 && now-ep.heard >= int64(m.cfg.heartbeat) {
			ep.sender.probe = true
			ep.push()
		}
	}
}

func (c *clock) fire() {
	c.timer, c.at = nil, 0
	now := c.loop.Now()
	next := int64(0)
	for ep := range c.waiting {
		if ep.due != 0 && ep.due <= now+slack {
			ep.tick(now)
		}
		switch {
		case ep.due == 0:
			delete(c.waiting, ep)
			ep.waits = false
		case next == 0 || ep.due < next:
			next = ep.due
		}
	}
	if next != 0 && (c.at == 0 || next < c.at-slack) {
		c.start(next)
	}
}
