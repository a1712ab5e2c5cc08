package pml

// awaited learns whether a peer's receives are posted before the messages come. Where they
// are, a long message goes at once, lands in the receive's buffer, and saves the round
// trip of its request. Where they are not, it would be copied twice, which costs more. So
// a long message goes at once only after some requests in a row found their receives
// waiting. Every now and then one asks again.
type awaited struct {
	met     int // requests in a row whose receive was there before them
	guessed int // messages sent at once since the last request
}

const (
	awaitedNeed  = 4
	awaitedTrust = 15
)

// answered takes what the receiver says with its clearance.
func (a *awaited) answered(was bool) {
	a.guessed = 0
	if was {
		a.met++
	} else {
		a.met = 0
	}
}

// guess reports whether to send the next long message at once.
func (a *awaited) guess() bool {
	if a.met < awaitedNeed || a.guessed >= awaitedTrust {
		return false
	}
	a.guessed++
	return true
}

// presumed reports whether a message beyond the eager limit is sent at once all
// the same. Over several rails it is not: they share what is cut into pieces.
func (pe *peer) presumed(op *operation, r *rail) bool {
	most := pe.pml.tune.eagerAwaited
	switch {
	case op.size > uint64(most) || len(pe.rails) > 1:
		return false
	case r.isSlow():
		return op.size <= uint64(r.unasked(most))
	}
	return op.size <= uint64(r.eagerLimit(most)) && pe.awaited.guess()
}
