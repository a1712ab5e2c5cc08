package delivery

// When says when an arrival is to be acknowledged (docs/decisions/0007-acknowledgements.md).
type When uint8

const (
	// Later: with whatever goes the other way, or with one of the next arrivals.
	Later When = iota
	// Soon: with the next poll, unless a frame that goes there before says it.
	Soon
	// Now: the sender waits for it.
	Now
)

// ackEvery is how many frames may arrive before they are acknowledged though no frame
// goes the other way.
const ackEvery = 64

// Arrived notes that a frame has arrived whole, and says when to acknowledge it. Awaited says
// that the frame completes a request of its sender. The caller then calls
// [Receiver.AwaitAnswer] too, after it has sent an acknowledgement that is due now.
func (r *Receiver) Arrived(n uint32, awaited bool) (When, error) {
	hadGaps := len(r.beyond) > 0
	if err := r.add(n); err != nil {
		return Later, err
	}
	r.untold++
	switch {
	case awaited:
		return r.Awaited(), nil
	case r.untold >= ackEvery || hadGaps || len(r.beyond) > 0:
		// A frame that fills a gap may be the last one missing of a send whose final frame came
		// before.
		return Soon, nil
	}
	return Later, nil
}

// Awaited is when an arrival is to be acknowledged that completes a request of its sender.
func (r *Receiver) Awaited() When {
	if r.answers.expected() {
		return Soon
	}
	// While the sender waits the program here goes on. The longer that is, the more of what
	// the sender sends next finds no receive posted.
	return Now
}

// ArrivedNext is Arrived for a frame that is expected ([Receiver.Expects]). It reports whether it is to be
// acknowledged soon; if its sender waits, [Receiver.Awaited] says when.
func (r *Receiver) ArrivedNext() (soon bool) {
	r.next++
	r.untold++
	return r.untold >= ackEvery
}

// Due reports whether an acknowledgement waits for a frame to leave with.
func (r *Receiver) Due() bool { return r.due }

// Owe notes that the peer waits for the next frame that leaves, if only for its
// acknowledgement.
func (r *Receiver) Owe() { r.due = true }

// Stamped notes that a frame with the cumulative acknowledgement has left.
func (r *Receiver) Stamped() {
	if len(r.beyond) == 0 {
		r.Told()
	}
}

// Told notes that the peer was told of all that has arrived, as far as an acknowledgement
// has room for it.
func (r *Receiver) Told() { r.due, r.untold = false, 0 }

// AwaitAnswer notes that an acknowledgement for which the sender waits was due now. The next
// frame that leaves shows whether the program answers at once.
func (r *Receiver) AwaitAnswer(now int64) { r.answers.since = now }

// AwaitsAnswer reports whether no frame has left since AwaitAnswer.
func (r *Receiver) AwaitsAnswer() bool { return r.answers.since != 0 }

// Answered notes that a frame has left. It is called where AwaitsAnswer is true.
func (r *Receiver) Answered(now int64) { r.answers.followed(now) }
