package programs

import (
	"fmt"
	"strings"
)

// A reception is a receive, a matched probe or a probe, as its rank saw it. Time
// is that rank's own: the number of calls it has begun and ended.
type reception struct {
	way     way
	comm    int
	phase   int
	pattern pattern
	room    int

	posted    int        // when the call began
	done      int        // when it was known to have its message, 0: never
	cancelled int        // when taking it back began, 0: it was not taken back
	gone      int        // by when it was taken back
	last      bool       // taken back when nothing was left to be received
	follows   *reception // the probe that announced its message

	begun int64 // when the call began, by the clock of all ranks

	source, tag, size int // of the message
	got               *message
}

type way uint8

const (
	posted way = iota // receives a message
	taken             // a matched probe
	seen              // a probe; the message stays
)

func (r *reception) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s for %v on comm %d, room for %d, begun at %d", [...]string{"receive", "matched probe", "probe"}[r.way], r.pattern, r.comm, r.room, r.posted)
	if r.cancelled > 0 {
		fmt.Fprintf(&b, ", taken back at %d", r.cancelled)
	}
	if r.done > 0 {
		fmt.Fprintf(&b, ", matched by %d", r.done)
	}
	if r.got != nil {
		fmt.Fprintf(&b, ", got %v", r.got)
	} else if r.done > 0 {
		fmt.Fprintf(&b, ", got %d bytes of %d with tag %d", r.size, r.source, r.tag)
	}
	return b.String()
}

// A history is what one rank saw of one program.
type history struct {
	program    *program
	rank       int
	clock      int
	receptions []*reception
}

func (h *history) tick() int {
	h.clock++
	return h.clock
}

// add notes that a call begins.
func (h *history) add(r *reception) {
	r.posted = h.tick()
	h.receptions = append(h.receptions, r)
}

// matched notes that a reception is known to have its message by now.
func (h *history) matched(r *reception) {
	now := h.tick()
	if r.done == 0 {
		r.done = now
	}
}

// messages returns those sent to the rank over a communicator, each sender's in
// the order of sending.
func (h *history) messages(comm int) []*message {
	var to []*message
	for _, m := range h.program.messages {
		if m.to == h.rank && m.comm == comm {
			to = append(to, m)
		}
	}
	return to
}

// on returns the receptions on a communicator in the order of their calls.
func (h *history) on(comm int) []*reception {
	var on []*reception
	for _, r := range h.receptions {
		if r.comm == comm {
			on = append(on, r)
		}
	}
	return on
}
