package emulate

import "time"

// An event is a frame's next stop.
type event struct {
	due      time.Duration
	turn     uint64 // of two events that are due at once, the one that was added first comes first
	frame    Frame
	size     uint32
	from, to uint16
	received bool // it has passed the receiver's queue
}

func (e *event) before(o *event) bool {
	if e.due != o.due {
		return e.due < o.due
	}
	return e.turn < o.turn
}

// A calendar keeps events by time: a heap with four children a node, half as deep
// as one with two.
type calendar struct {
	events []event
	turns  uint64
}

const children = 4

func (c *calendar) add(e event) {
	c.turns++
	e.turn = c.turns
	c.events = append(c.events, e)
	i := len(c.events) - 1
	for i > 0 {
		parent := (i - 1) / children
		if !e.before(&c.events[parent]) {
			break
		}
		c.events[i] = c.events[parent]
		i = parent
	}
	c.events[i] = e
}

// pop removes the first event, of which there must be one.
func (c *calendar) pop() event {
	first := c.events[0]
	last := len(c.events) - 1
	e := c.events[last]
	c.events = c.events[:last]
	if last > 0 {
		c.sink(e)
	}
	return first
}

// sink puts an event into the place at the top that is free.
func (c *calendar) sink(e event) {
	i := 0
	for {
		child := i*children + 1
		if child >= len(c.events) {
			break
		}
		for sibling := child + 1; sibling < min(i*children+1+children, len(c.events)); sibling++ {
			if c.events[sibling].before(&c.events[child]) {
				child = sibling
			}
		}
		if !c.events[child].before(&e) {
			break
		}
		c.events[i] = c.events[child]
		i = child
	}
	c.events[i] = e
}
