package pml

// awaited learns whether a peer's receives are posted before the messages come. Where they
// are, a long message goes at once, lands in the receive's buffer, and saves the round
// trip of its request. Where they are not, it is copied twice, the first time into memory that may never have been used, which costs more. So
// a long message goes at once only after some requests in a row found their receives
// waiting. Every now and then one asks again. If the receiver says that one was not awaited, all ask again, and for longer.
type awaited struct {
	met     int // requests in a row whose receive was there before them
	guessed int // messages sent at once since the last request
	need    int // how many requests in a row it takes
}

const (
	awaitedNeed = 4
	// awaitedNear is awaitedNeed where a request's round trip takes no longer than to copy some KB: little is to be gained.
	awaitedNear  = 32
	awaitedMost  = 1024
	awaitedTrust = 15
)

// answered takes what the receiver says with its clearance.
func (a *awaited) answered(was bool) {
	if a.guessed >= awaitedTrust {
		a.need /= 2
	}
	a.guessed = 0
	if was {
		a.met++
	} else {
		a.met = 0
	}
}

// missed: one that was sent at once had to be copied.
func (a *awaited) missed() {
	a.met, a.guessed, a.need = 0, 0, min(2*a.need, awaitedMost)
}

// guess reports whether to send the next long message at once, after so many requests at least.
func (a *awaited) guess(least int) bool {
	a.need = max(a.need, least)
	if a.met < a.need || a.guessed >= awaitedTrust {
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
	case op.size > uint64(r.eagerLimit(most)):
		return false
	case r.prompt():
		return pe.awaited.guess(awaitedNear)
	}
	return pe.awaited.guess(awaitedNeed)
}

// noteUnawaited has the peer told, with the next acknowledgement, that what it has sent at once found no receive.
func (pe *peer) noteUnawaited(size int) {
	if size > pe.pml.tune.eagerMax {
		pe.unawaited = true
	}
}
