package programs

import (
	"errors"
	"fmt"
	"strings"
)

// judge holds a complete history against the rules.
func (h *history) judge() error {
	var errs []error
	for _, g := range h.program.comms {
		if g.rank(h.rank) < 0 {
			continue
		}
		v := verdict{history: h, relaxed: g.relaxed, messages: h.messages(g.id), receptions: h.on(g.id)}
		if err := v.judge(); err != nil {
			errs = append(errs, fmt.Errorf("rank %d, comm %d: %w", h.rank, g.id, err))
		}
	}
	return errors.Join(errs...)
}

// A verdict is about one communicator of one rank.
type verdict struct {
	history    *history
	relaxed    bool // the communicator's ordering
	messages   []*message
	receptions []*reception
	by         map[*message]*reception // who received it
}

func (v *verdict) judge() error {
	if err := v.identify(); err != nil {
		return err
	}
	if err := v.once(); err != nil {
		return err
	}
	if err := v.announced(); err != nil {
		return err
	}
	if err := v.ordered(); err != nil {
		return err
	}
	return v.sequential()
}

// identify finds out which messages were received with nothing of them visible:
// of those of the same sender, tag and length, which fit the same receives, each
// must have gone to the receive posted in the same place.
func (v *verdict) identify() error {
	v.by = make(map[*message]*reception)
	for _, r := range v.receptions {
		if r.way == seen || r.got == nil {
			continue
		}
		if other := v.by[r.got]; other != nil {
			return fmt.Errorf("%v was received twice:\n%v\n%v", r.got, other, r)
		}
		v.by[r.got] = r
	}
	for _, r := range v.receptions {
		if r.way == seen || r.got != nil || r.done == 0 {
			continue
		}
		for _, m := range v.messages {
			if v.by[m] == nil && m.from == r.source && m.tag == r.tag && m.size == r.size && m.phase == r.phase {
				r.got, v.by[m] = m, r
				break
			}
		}
		if r.got == nil {
			return fmt.Errorf("no such message was sent, or all were received already: %v", r)
		}
	}
	return nil
}

// once sees to it that every message was received, by a receive that it fits, in
// the phase it was sent in.
func (v *verdict) once() error {
	for _, m := range v.messages {
		switch r := v.by[m]; {
		case r == nil:
			return fmt.Errorf("%v was never received", m)
		case !r.pattern.fits(m):
			return fmt.Errorf("a message went to a receive that it does not fit: %v", r)
		case r.phase != m.phase:
			return fmt.Errorf("a message of phase %d was received in phase %d: %v", m.phase, r.phase, r)
		}
	}
	return nil
}

// announced finds the message that each probe saw, the oldest of its sender and
// tag that had not been received, and compares it with what the next receive for
// it got.
func (v *verdict) announced() error {
	for _, r := range v.receptions {
		if r.way != seen {
			continue
		}
		r.got = nil
		for _, m := range v.messages {
			if m.from == r.source && m.tag == r.tag && v.by[m].posted > r.posted {
				r.got = m
				break
			}
		}
		if r.got == nil {
			return fmt.Errorf("a probe saw a message that nobody received afterwards: %v, it saw %d bytes of %d with tag %d", r, r.size, r.source, r.tag)
		}
		if r.got.size != r.size {
			return fmt.Errorf("a probe saw %d bytes of %d with tag %d, but the next message is another: %v", r.size, r.source, r.tag, r)
		}
	}
	for _, r := range v.receptions {
		if r.follows != nil && r.got != r.follows.got {
			return fmt.Errorf("a receive did not get what the probe before it saw:\n%v\n%v", r.follows, r)
		}
	}
	return nil
}

// ordered looks for an order of the matches that keeps to MPI's two rules and to
// the order of the rank's own calls. Nodes are matches, withdrawals and the
// rank's clock; there is such an order unless they must follow each other in a
// circle.
//
//   - What a reception has, it has between the beginning of its call and the time
//     that this was known; it is taken back between the beginning of that call and
//     its end.
//   - Of two messages of one sender that fit a reception, the older was received
//     before the reception had the younger. With relaxed ordering that is
//     promised of messages of one tag.
//   - Of two receives that fit a message, the one posted first was gone before
//     the other, or a probe, had it.
//   - A probe sees a message before it is received.
func (v *verdict) ordered() error {
	order := newOrdering(v.history.clock)
	for _, r := range v.receptions {
		order.place(r)
	}
	for i, r := range v.receptions {
		if r.got == nil {
			continue
		}
		for _, m := range v.messages {
			if m == r.got {
				break
			}
			if m.from == r.got.from && r.pattern.fits(m) && (!v.relaxed || m.tag == r.got.tag) {
				order.before(v.by[m], r)
			}
		}
		for _, earlier := range v.receptions[:i] {
			if earlier.way != posted || !earlier.pattern.fits(r.got) {
				continue
			}
			if earlier.got == nil && earlier.cancelled == 0 {
				return fmt.Errorf("a receive is still pending though a message that it fits went to a later one:\n%v\n%v", earlier, r)
			}
			order.before(earlier, r)
		}
		if r.way == seen {
			order.before(r, v.by[r.got])
		}
	}
	if circle := order.circle(); circle != nil {
		var lines []string
		for _, r := range circle {
			lines = append(lines, r.String())
		}
		return fmt.Errorf("no order of these matches keeps to the rules (each must have come before the next, the last before the first):\n%s", strings.Join(lines, "\n"))
	}
	return nil
}

// sequential computes the outcome of a phase in which one rank alone sends: in
// the order of sending, each message goes to the first receive, in the order of
// posting, that it fits and that is free.
func (v *verdict) sequential() error {
	for phase := range v.history.program.phases {
		messages, receives := v.determined(phase)
		free := make(map[*reception]bool)
		for _, r := range receives {
			free[r] = true
		}
		for _, m := range messages {
			var first *reception
			for _, r := range receives {
				if free[r] && r.pattern.fits(m) {
					first = r
					break
				}
			}
			if first != v.by[m] {
				return fmt.Errorf("one rank alone sends in this phase, so %v belongs to\n%v\nbut it went to\n%v", m, first, v.by[m])
			}
			delete(free, first)
		}
	}
	return nil
}

// determined returns the messages and receives of a phase if its outcome is
// determined: one sender, nothing taken by a matched probe or taken back while
// messages were still to come.
func (v *verdict) determined(phase int) ([]*message, []*reception) {
	if v.relaxed {
		return nil, nil
	}
	var messages []*message
	for _, m := range v.messages {
		if m.phase != phase {
			continue
		}
		if len(messages) > 0 && messages[0].from != m.from {
			return nil, nil
		}
		messages = append(messages, m)
	}
	var receives []*reception
	for _, r := range v.receptions {
		switch {
		case r.phase != phase || r.way == seen:
		case r.way == taken || r.cancelled > 0 && !r.last:
			return nil, nil
		default:
			receives = append(receives, r)
		}
	}
	return messages, receives
}
