package programs

import (
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
)

// begin writes down that a receive begins and makes its buffer.
func (r *rank) begin(w way, comm int, p pattern, room int, as form) (*reception, *buffer) {
	rec := r.note(w, comm, p, room)
	return rec, r.buffer(room, as)
}

// note writes down that a receive begins.
func (r *rank) note(w way, comm int, p pattern, room int) *reception {
	rec := &reception{way: w, comm: comm, phase: r.phase, pattern: p, room: room, begun: r.ledger.clock.Add(1)}
	r.history.add(rec)
	return rec
}

// buffer makes one, which is looked at again in the end.
func (r *rank) buffer(n int, as form) *buffer {
	b := newBuffer(n, as, r.random)
	r.buffers = append(r.buffers, b)
	if as == scattered {
		r.tally.Scattered++
	}
	return b
}

// form draws one.
func (r *rank) form() form { return pick(r.random, whole, whole, whole, vector, scattered) }

// source is what a pattern's source is called in a communicator.
func (r *rank) source(comm int, p pattern) int {
	if p.source == strand.AnySource {
		return p.source
	}
	return r.program.comms[comm].rank(p.source)
}

// receive starts to receive.
func (r *rank) receive(comm int, p pattern, room int, as form, follows *reception) error {
	rec, b := r.begin(posted, comm, p, room, as)
	rec.follows = follows
	handle, err := b.irecv(r.comms[comm], r.source(comm, p), p.tag)
	if err != nil {
		return err
	}
	r.history.tick()
	r.requests = append(r.requests, &request{handle: handle, buffer: b, reception: rec})
	return nil
}

// receiveNow receives and waits.
func (r *rank) receiveNow(comm int, p pattern, room int, as form, follows *reception) error {
	if r.polls {
		if err := r.receive(comm, p, room, as, follows); err != nil {
			return err
		}
		q := r.requests[len(r.requests)-1]
		st, err := r.wait(q.handle)
		return r.ended(q, st, err)
	}
	rec, b := r.begin(posted, comm, p, room, as)
	rec.follows = follows
	st, err := b.recv(r.ctx, r.comms[comm], r.source(comm, p), p.tag)
	return r.received(rec, b, st, err)
}

// received checks what a receive has brought.
func (r *rank) received(rec *reception, b *buffer, st strand.Status, err error) error {
	if err := r.outcome(rec, st, err); err != nil {
		return err
	}
	return r.contents(rec, b)
}

// outcome checks what is said of a message that was received.
func (r *rank) outcome(rec *reception, st strand.Status, err error) error {
	r.history.matched(rec)
	r.ledger.beat()
	size := st.Count
	var cut *strand.TruncateError
	switch {
	case errors.As(err, &cut):
		size = int(cut.Message)
		if size <= rec.room || int(cut.Buffer) != rec.room || st.Count != rec.room || cut.Source != st.Source || cut.Tag != st.Tag {
			return fmt.Errorf("%v: wrong truncation: %+v, status %+v", rec, *cut, st)
		}
		r.tally.Truncated++
	case err != nil:
		return fmt.Errorf("%v: %w", rec, err)
	case st.Count > rec.room:
		return fmt.Errorf("%v: status says %d bytes", rec, st.Count)
	}
	if rec.way == posted {
		return r.describe(rec, st, size)
	}
	if want := r.program.comms[rec.comm].rank(rec.source); st.Source != want || st.Tag != rec.tag || size != rec.size {
		return fmt.Errorf("%v: it is not the message that was taken: %+v", rec, st)
	}
	return nil
}

// describe notes what a status says of a message.
func (r *rank) describe(rec *reception, st strand.Status, size int) error {
	g := r.program.comms[rec.comm]
	if st.Source < 0 || st.Source >= len(g.members) {
		return fmt.Errorf("%v: status says rank %d of %d", rec, st.Source, len(g.members))
	}
	rec.source, rec.tag, rec.size = g.members[st.Source], st.Tag, size
	if !rec.pattern.fits(&message{from: rec.source, tag: rec.tag}) {
		return fmt.Errorf("%v: the message does not fit", rec)
	}
	if rec.way != seen {
		r.consumed[rec.comm]++
		r.seen[[3]int{rec.comm, rec.source, rec.tag}]++
	}
	return nil
}

// contents compares what was received with what was sent, and takes the buffer
// back.
func (r *rank) contents(rec *reception, b *buffer) error {
	n := min(rec.size, rec.room)
	if i := b.untouched(n); i >= 0 {
		return fmt.Errorf("%v: byte %d of the buffer was written to; the message takes %d", rec, i, n)
	}
	if n == 0 {
		return nil // which it was is found out in the end
	}
	content := b.content(n)
	m := r.find(rec, int(content[0]))
	if m == nil {
		return fmt.Errorf("%v: no such message was sent: it begins with % x", rec, content[:min(n, headSize)])
	}
	if i := m.differs(content, r.program.seed); i >= 0 {
		return fmt.Errorf("%v: differs from %v from byte %d of %d on; it begins with % x", rec, m, i, n, content[:min(n, headSize)])
	}
	b.spoil()
	return r.obtain(rec, m)
}

// obtain writes down which message a receive has got.
func (r *rank) obtain(rec *reception, m *message) error {
	if r.got[m] {
		return fmt.Errorf("%v: %v was received before", rec, m)
	}
	r.got[m], rec.got = true, m
	return nil
}

// find returns the message that says it is the index'th.
func (r *rank) find(rec *reception, index int) *message {
	for _, m := range r.program.messages {
		if m.comm == rec.comm && m.to == r.me && m.from == rec.source && m.index == index && m.tag == rec.tag && m.size == rec.size {
			return m
		}
	}
	return nil
}

// cancel takes a receive back, if it can be.
func (r *rank) cancel() error {
	var open []*request
	for _, q := range r.requests {
		if q.reception != nil && !q.matched {
			open = append(open, q)
		}
	}
	if len(open) == 0 {
		return nil
	}
	q := open[r.random.IntN(len(open))]
	if i := slices.IndexFunc(open, func(q *request) bool { return q.reception.pattern.tag == strand.AnyTag }); i >= 0 && r.random.IntN(2) == 0 {
		q = open[i]
	}
	if back, err := r.takeBack(q); back || err != nil || r.random.IntN(2) == 0 {
		return err
	}
	st, err := r.wait(q.handle)
	return r.ended(q, st, err)
}

// takeBack cancels a receive and reports whether it could.
func (r *rank) takeBack(q *request) (bool, error) {
	began := r.history.tick()
	if !q.handle.Cancel() {
		r.history.matched(q.reception)
		q.matched = true
		r.tally.TooLate++
		return false, nil
	}
	gone := r.history.tick()
	st, err := q.handle.Wait(r.ctx)
	if err != nil || !st.Cancelled {
		return true, fmt.Errorf("%v: was taken back, and then ended with %+v: %w", q.reception, st, err)
	}
	q.reception.cancelled, q.reception.gone = began, gone
	r.tally.Cancelled++
	if i := q.buffer.untouched(0); i >= 0 {
		return true, fmt.Errorf("%v: byte %d of the buffer was written to, and yet it could be taken back", q.reception, i)
	}
	q.buffer.spoil()
	r.forget(q)
	return true, nil
}
