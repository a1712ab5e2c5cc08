package programs

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
)

// receiveUntil receives until the message of a step has come. Its sender waits
// for that, and so it surely comes: to a receive that is posted already, if one
// fits it, else to one that is made here.
func (r *rank) receiveUntil(s *step) error {
	m := s.message
	for {
		if err := r.freeCaptives(); err != nil {
			return err
		}
		if r.seen[[3]int{m.comm, m.from, m.tag}] >= m.ordinal {
			return nil
		}
		var err error
		open := r.open(m.comm)
		if slices.ContainsFunc(open, func(q *request) bool { return q.reception.pattern.fits(m) }) {
			err = r.waitAny(open)
		} else {
			err = r.receiveOne(m.comm, s.pattern, s.room, s.form)
		}
		if err != nil {
			return err
		}
	}
}

// open returns the receives under way on a communicator.
func (r *rank) open(comm int) []*request {
	var open []*request
	for _, q := range r.requests {
		if q.reception != nil && q.reception.way == posted && q.reception.comm == comm {
			open = append(open, q)
		}
	}
	return open
}

// receiveOne receives a message that comes for sure and that no receive under
// way fits, by one of the calls that block.
func (r *rank) receiveOne(comm int, p pattern, room int, as form) error {
	c, source := r.comms[comm], r.source(comm, p)
	switch r.random.IntN(4) {
	case 0:
		rec := &reception{way: seen, comm: comm, phase: r.phase, pattern: p, posted: r.history.tick()}
		st, err := r.probeNow(c, source, p.tag)
		if err != nil {
			return err
		}
		if err := r.noteSeen(rec, st); err != nil {
			return err
		}
		return r.receiveSeen(rec, room, as)
	case 1:
		rec := r.capturing(comm, p, room, nil)
		m, err := r.takeNow(c, source, p.tag)
		if err != nil {
			return err
		}
		if err := r.noteTaken(rec, m, &step{room: room, form: as}); err != nil {
			return err
		}
		return r.freeCaptive()
	case 2:
		if err := r.receive(comm, p, room, as, nil); err != nil {
			return err
		}
		q := r.requests[len(r.requests)-1]
		st, err := r.wait(q.handle)
		return r.ended(q, st, err)
	}
	return r.receiveNow(comm, p, room, as, nil)
}

// drain ends a phase: everything that was sent to this rank is received, and its
// own sends complete.
func (r *rank) drain() error {
	due := r.due()
	join := func() error { return r.await(len(r.calls)) }
	if len(r.calls) > 0 && r.random.IntN(3) == 0 {
		join = r.awaitBeside()
	}
	for comm := range r.comms {
		if r.comms[comm] == nil {
			continue
		}
		if err := r.drainComm(comm, due[comm]); err != nil {
			return err
		}
	}
	if err := r.freeCaptives(); err != nil {
		return err
	}
	if err := r.completeAll(due); err != nil {
		return err
	}
	if err := join(); err != nil {
		return err
	}
	if err := r.comms[0].Barrier(r.ctx); err != nil {
		return err
	}
	r.phase++
	return nil
}

// due returns how many messages this rank has to have received by the end of
// this phase, by communicator.
func (r *rank) due() []int {
	due := make([]int, len(r.comms))
	for _, m := range r.program.messages {
		if m.to == r.me && m.phase <= r.phase {
			due[m.comm]++
		}
	}
	return due
}

// drainComm sees to it that everything on a communicator is received: now, or by
// receives that are posted now.
func (r *rank) drainComm(comm, due int) error {
	way := r.random.IntN(3)
	if way == 0 {
		return r.postRest(comm, due)
	}
	if err := r.takeAllBack(comm); err != nil {
		return err
	}
	if rest := r.rest(comm); way == 1 && len(rest) == due-r.consumed[comm] && len(r.open(comm)) == 0 {
		return r.postNamed(rest)
	}
	return r.receiveRest(comm, due)
}

// takeAllBack takes all receives back that it can.
func (r *rank) takeAllBack(comm int) error {
	open := r.shuffled(r.open(comm))
	if r.random.IntN(2) == 0 { // receives for any tag come first: they may hold messages back
		slices.SortStableFunc(open, func(a, b *request) int { return cmp.Compare(a.reception.pattern.tag, b.reception.pattern.tag) })
	}
	for _, q := range open {
		if _, err := r.takeBack(q); err != nil {
			return err
		}
	}
	return nil
}

// rest returns the messages that are still to come. It counts those that a
// receive under way may have as still to come.
func (r *rank) rest(comm int) []*message {
	var rest []*message
	for _, m := range r.history.messages(comm) {
		if m.phase <= r.phase && m.ordinal > r.seen[[3]int{comm, m.from, m.tag}] {
			rest = append(rest, m)
		}
	}
	return rest
}

// postNamed posts a receive for each message, in any order, by source and tag.
func (r *rank) postNamed(rest []*message) error {
	r.random.Shuffle(len(rest), func(i, j int) { rest[i], rest[j] = rest[j], rest[i] })
	for _, m := range rest {
		if err := r.receive(m.comm, pattern{m.from, m.tag}, r.roomForRest(m.comm), r.form(), nil); err != nil {
			return err
		}
	}
	return nil
}

// receiveRest receives what is still to come one by one.
func (r *rank) receiveRest(comm, due int) error {
	for r.consumed[comm]+len(r.open(comm)) < due { // all that are under way have matched
		p := anything
		if rest := r.rest(comm); len(r.open(comm)) == 0 && r.random.IntN(3) > 0 {
			m := rest[r.random.IntN(len(rest))]
			p = pick(r.random, anything, pattern{m.from, m.tag}, pattern{m.from, strand.AnyTag}, pattern{strand.AnySource, m.tag})
		}
		if err := r.receiveOne(comm, p, r.roomForRest(comm), r.form()); err != nil {
			return err
		}
	}
	return nil
}

// postRest leaves the receives where they are and posts as many for any message
// behind them as are still to come.
func (r *rank) postRest(comm, due int) error {
	for range due - r.consumed[comm] {
		if err := r.receive(comm, anything, r.roomForRest(comm), r.form(), nil); err != nil {
			return err
		}
	}
	return nil
}

func (r *rank) roomForRest(comm int) int {
	n := r.longest(comm)
	if r.random.IntN(10) == 0 {
		return r.random.IntN(n + 1)
	}
	return n
}

// completeAll waits until everything that is due was received and all sends are
// complete, and takes back the receives that are left.
func (r *rank) completeAll(due []int) error {
	for {
		complete := !slices.ContainsFunc(r.requests, func(q *request) bool { return q.message != nil || q.matched })
		certain := true // every request will complete
		for comm := range r.comms {
			missing := due[comm] - r.consumed[comm]
			complete = complete && missing == 0
			certain = certain && missing == len(r.open(comm))
		}
		if complete {
			break
		}
		if err := r.waitForMore(certain); err != nil {
			return err
		}
	}
	for _, q := range slices.Clone(r.requests) {
		back, err := r.takeBack(q)
		if err != nil {
			return err
		}
		if !back {
			return fmt.Errorf("everything was received, and yet %v has matched", q.reception)
		}
		q.reception.last = true
	}
	return nil
}

func (r *rank) waitForMore(certain bool) error {
	if certain {
		return r.waitAll(r.requests)
	}
	return r.waitAny(r.requests)
}
