package programs

import (
	"errors"
	"fmt"

	"github.com/strandmp/strand"
)

// probe looks for a message and perhaps receives it.
func (r *rank) probe(s *step) error {
	rec := &reception{way: seen, comm: s.comm, phase: r.phase, pattern: s.pattern}
	began := r.history.tick()
	st, ok, err := r.comms[s.comm].Iprobe(r.source(s.comm, s.pattern), s.pattern.tag)
	if err != nil || !ok {
		return err
	}
	rec.posted = began
	if err := r.noteSeen(rec, st); err != nil {
		return err
	}
	if r.random.IntN(5) < 2 {
		return nil
	}
	return r.receiveSeen(rec, s.room, s.form)
}

// noteSeen writes down what a probe has seen.
func (r *rank) noteSeen(rec *reception, st strand.Status) error {
	r.history.receptions = append(r.history.receptions, rec)
	r.history.matched(rec)
	r.tally.Probed++
	return r.describe(rec, st, st.Count)
}

// receiveSeen receives what a probe has seen. That names its source; it may
// leave the tag open if the probe did.
func (r *rank) receiveSeen(rec *reception, room int, as form) error {
	p := pattern{rec.source, rec.tag}
	if r.random.IntN(2) == 0 {
		p.tag = rec.pattern.tag
	}
	switch r.random.IntN(3) {
	case 0:
		return r.receive(rec.comm, p, room, as, rec)
	case 1:
		return r.receiveNow(rec.comm, p, room, as, rec)
	}
	found, err := r.captureFrom(rec.comm, p, &step{comm: rec.comm, room: room, form: as}, rec)
	if err == nil && !found {
		err = fmt.Errorf("%v: a matched probe does not see what a probe saw", rec)
	}
	return err
}

// capture takes a message by a matched probe, to receive it now or later.
func (r *rank) capture(s *step) error {
	found, err := r.captureFrom(s.comm, s.pattern, s, nil)
	if err != nil || !found || r.random.IntN(2) == 0 {
		return err
	}
	return r.freeCaptive()
}

func (r *rank) captureFrom(comm int, p pattern, s *step, follows *reception) (bool, error) {
	rec := r.capturing(comm, p, s.room, follows)
	m, found, err := r.comms[comm].Improbe(r.source(comm, p), p.tag)
	if !found {
		return false, err
	}
	return true, r.noteTaken(rec, m, s)
}

// capturing is a matched probe that begins; it is written down when it has found something.
func (r *rank) capturing(comm int, p pattern, room int, follows *reception) *reception {
	return &reception{
		way: taken, comm: comm, phase: r.phase, pattern: p, room: room, follows: follows,
		posted: r.history.tick(), begun: r.ledger.clock.Add(1),
	}
}

func (r *rank) noteTaken(rec *reception, m *strand.Message, s *step) error {
	r.history.receptions = append(r.history.receptions, rec)
	r.history.matched(rec)
	r.tally.Taken++
	r.held = append(r.held, &captive{m, rec, s})
	return r.describe(rec, m.Status(), m.Status().Count)
}

// freeCaptive receives one of the messages that matched probes have taken.
func (r *rank) freeCaptive() error {
	if len(r.held) == 0 {
		return nil
	}
	i := r.random.IntN(len(r.held))
	c := r.held[i]
	r.held = append(r.held[:i:i], r.held[i+1:]...)
	b := r.buffer(c.step.room, c.step.form)
	if r.random.IntN(3) == 0 {
		return r.receiveCaptive(c, b)
	}
	st, err := b.take(r.ctx, c.message)
	if err == nil {
		if _, again := c.message.Recv(r.ctx, nil); !errors.Is(again, strand.ErrFinished) {
			return fmt.Errorf("%v: receiving the message again ended with %s", c.reception, fmt.Sprint(again))
		}
	}
	return r.received(c.reception, b, st, err)
}

// receiveCaptive starts to receive a message that a matched probe has taken.
func (r *rank) receiveCaptive(c *captive, b *buffer) error {
	handle, err := b.itake(c.message)
	if err != nil {
		return err
	}
	r.requests = append(r.requests, &request{handle: handle, buffer: b, reception: c.reception, matched: true})
	return nil
}

func (r *rank) freeCaptives() error {
	for len(r.held) > 0 {
		if err := r.freeCaptive(); err != nil {
			return err
		}
	}
	return nil
}
