package sctp

import "time"

// At is when [Association.Tick] is to be called; 0: there is nothing to wait for. It changes with everything that
// is done to the association.
func (a *Association) At() int64 {
	if a.state == Closed {
		return 0
	}
	at := earliest(a.dueAt, a.guardAt)
	if a.sender == nil {
		return at
	}
	at = earliest(at, a.sender.At())
	at = earliest(at, a.receiver.Due())
	at = earliest(at, a.closeAt())
	at = earliest(at, a.restAt)
	for i := range a.paths {
		p := &a.paths[i]
		at = earliest(at, p.beatAt)
		at = earliest(at, p.beat.until)
		at = earliest(at, p.sound.until)
		at = earliest(at, p.moved.until)
	}
	return at
}

// earliest is the earlier of two times, of which 0 is none.
func earliest(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// closeAt is when the association is closed for want of data. How long a peer may take to prove who it is, its owner knows.
func (a *Association) closeAt() int64 {
	if a.e.config.Autoclose == 0 || a.state != Established || !a.trusted {
		return 0
	}
	return a.active + int64(a.e.config.Autoclose)
}

// restAfter is after how long without data memory is given back that was for more under way than there is now.
const restAfter = int64(5 * time.Second)

// stir notes that data goes or comes.
func (a *Association) stir(now int64) {
	a.active = now
	orElse(&a.restAt, now+restAfter)
}

// rest gives memory back if there has been no data for long enough.
func (a *Association) rest(now int64) {
	switch idle := a.active + restAfter; {
	case idle > now:
		a.restAt = idle
	case !a.sender.Idle():
		a.restAt = now + restAfter
	default:
		a.restAt, a.chunks = 0, nil
		a.sender.Rest(now)
	}
}

// Tick does what is due. [Association.Send] may have something then.
func (a *Association) Tick(now int64) {
	switch {
	case a.state == Closed:
		return
	case a.guardAt != 0 && now >= a.guardAt:
		a.breakOff(refusal{}, ErrUnfinished)
		return
	case a.dueAt != 0 && now >= a.dueAt && !a.unanswered(now):
		return
	case a.sender == nil:
		return
	}
	if at := a.sender.At(); at != 0 && now >= at {
		a.sender.Tick(now)
	}
	if a.restAt != 0 && now >= a.restAt {
		a.rest(now)
	}
	a.watch(now)
	for i := 0; i < len(a.paths) && a.state != Closed; i++ {
		a.tickPath(now, i)
	}
	if at := a.closeAt(); at != 0 && now >= at {
		a.Shutdown(now)
	}
	a.proceed(now)
}

// unanswered has the chunk of the present state sent again. It reports whether the association is still there.
func (a *Association) unanswered(now int64) bool {
	if a.quick() > 0 {
		a.repeats++
		a.due, a.dueAt = true, 0
		return true
	}
	a.tries, a.answers = a.tries+1, false
	most := a.e.config.AssocMaxRetrans
	if a.sender == nil {
		most = a.e.config.InitMaxRetrans
	}
	if a.tries > most {
		a.end(ErrNoAnswer)
		return false
	}
	a.due, a.dueAt = true, 0
	return true
}

// tickPath does what is due on a path.
func (a *Association) tickPath(now int64, i int) {
	p := &a.paths[i]
	if p.sound.until != 0 && now >= p.sound.until {
		if p.sound.kept {
			p.mtu.Untaken(p.sound.size)
		} else {
			p.mtu.Lost(p.sound.size)
		}
		p.sound = question{}
		a.sounds(now, i)
	}
	if p.moved.until != 0 && now >= p.moved.until {
		p.moved = question{}
	}
	if p.beat.until != 0 && now >= p.beat.until {
		a.silent(now, i)
		return
	}
	if p.beatAt == 0 || now < p.beatAt {
		return
	}
	a.sounds(now, i) // whether there is data or not: longer packets are for who has some
	if idle := p.used + int64(a.e.config.Heartbeat); p.state == Active && idle > now {
		p.beatAt = idle
		return
	}
	p.beatAt, p.beat.due, p.beat.usual = 0, true, true
}

// silent notes that a heartbeat was not answered. The next one follows at once, but for a path that is down.
func (a *Association) silent(now int64, i int) {
	p := &a.paths[i]
	a.sender.Fate(i, p.beat.again+1, false)
	p.beat = question{}
	p.missed++
	a.bad(now, i)
	switch {
	case a.state == Closed:
	case p.state == Down:
		p.beatAt = a.nextBeat(now, i)
	default:
		p.beat.due = true
	}
}
