package rails

import (
	"testing"
	"time"

	"github.com/strandmp/strand/internal/test/need"
)

// Two sides reach each other wherever a path lasts, and give each other up only where none does, whatever has happened before.
func TestTwoSides(t *testing.T) {
	for seed := range need.Seeds(t, 1600, 1_000_000) {
		newSim(t, seed).live()
	}
}

// live has a sim change for a while, and settle.
func (s *sim) live() {
	a, b := s.sides[0], s.sides[1]
	s.begin()
	for range s.IntN(13) {
		s.run(s.now + int64(s.duration()))
		if a.over != NoReason {
			a.mayHaveFailed()
			return
		}
		s.change()
	}
	s.settle()
	switch n := s.IntN(4); {
	case a.over != NoReason || b.over != NoReason:
	case n == 0:
		s.noneLasts()
	case n == 1 && a.env.Appeals:
		s.oneLastsForThePeer()
	default:
		s.oneLasts()
	}
}

// mostSteps bounds what a side does in a second.
const mostSteps = 300

// count holds that there is an end of what Next says.
func (d *side) count() {
	if d.now-d.second > int64(time.Second) {
		d.second, d.steps = d.now, 0
	}
	if d.steps++; d.steps > mostSteps {
		d.fatal("side %d does more than %d steps in a second", d.no, mostSteps)
	}
}

// mayWait holds that a side that waits waits for something: before the first contact nothing happens by itself.
func (d *side) mayWait() {
	if d.wake != 0 && d.wake <= d.now {
		d.fatal("side %d waits for what is past", d.no)
	}
	if d.wake != 0 || d.peer.Stage != Known || d.peer.Met || !d.depends {
		return
	}
	for _, r := range d.peer.Rails {
		if r.State == Connecting || r.State == Breaking {
			return
		}
	}
	d.fatal("side %d waits for nothing", d.no)
}

// mayFail holds that the peer was not declared failed although this side could reach it by a path that lasts.
func (d *side) mayFail(p *path) {
	r := d.rail(p)
	switch {
	case d.other().ended():
	case r.State == Gone: // what has ended for good is tried no more, though it was somebody else's only then
	case r.State == Connecting && r.began < p.since: // a system may take two minutes before it asks again
	case d.over == Silence && !r.avoids(): // over the interfaces of those that are silent: not tried beside them
	case d.over == Silence || d.over == Standstill:
		// The beats tell of a minute. A connection that was made lately may have brought nothing yet.
		if d.overAt-p.since > int64(10*time.Second) {
			d.fatal("side %d was silent, and %s lasts", 1-d.no, p.name)
		}
	case d.over == Departure && d.env.Parting: // one address that refuses is enough for a goodbye
	case r.failed != 0 && r.failed <= p.since: // before the first contact each path may be tried but once
	default:
		d.fatal("side %d has failed for %d, and %s lasts since %.3f", 1-d.no, d.over, p.name, sinceStart(p.since))
	}
}

// mayHaveFailed is mayFail after a change of the paths: for each that is as it was for a while.
func (d *side) mayHaveFailed() {
	for _, p := range d.paths {
		connects := p.place[d.no] != absent && p.answers[d.no].err == nil && !p.mute
		stopped := d.other().awake >= d.overAt-int64(15*time.Second) // it may not have answered in time
		if connects && !stopped && p.since < d.overAt-int64(time.Second) {
			d.mayFail(p)
		}
	}
}

// change has something change.
func (s *sim) change() {
	p, d := s.paths[s.IntN(len(s.paths))], s.sides[s.IntN(2)]
	switch n := s.IntN(10); {
	case n < 4:
		p.since = s.now
		p.answers[d.no] = s.answer(failures)
		if s.IntN(3) == 0 {
			p.answers[d.no] = answer{nil, soon}
		}
		s.note("%s from side %d: %v, in %v", p.name, d.no, p.answers[d.no].err, p.answers[d.no].after)
	case n < 6:
		s.note("%s is cut", p.name)
		s.cut(p)
	case n < 7:
		p.since = s.now
		s.setMute(p, !p.mute)
		s.note("%s is mute: %v", p.name, p.mute)
	case n < 9:
		d.awake = max(d.awake, s.now+int64(s.duration()))
		s.note("side %d is stopped until %.3f", d.no, sinceStart(d.awake))
	default:
		d = s.sides[1]
		s.schedule(d, 0, func() {
			if d.depends = !d.depends; d.depends {
				d.want()
			}
		})
	}
}

// begin has side 0 want something of side 1, which may wait for it.
func (s *sim) begin() {
	for _, d := range s.sides {
		s.schedule(d, 0, d.look)
		s.schedule(d, 0, d.beat)
	}
	a, b := s.sides[0], s.sides[1]
	s.schedule(a, 0, func() { a.peer.Want(a.env) })
	if s.IntN(2) == 0 {
		s.schedule(b, 0, func() { b.peer.Seek(b.env) })
	}
}

// settle has all paths be what they are to stay, and no process be stopped.
func (s *sim) settle() {
	s.run(max(s.sides[0].awake, s.sides[1].awake, s.now) + int64(soon))
	for _, p := range s.paths {
		s.setMute(p, false)
	}
}

// longest is how long an attempt took that failed, at most. It is not asked of the rails, which may be wrong.
func (s *sim) longest() (longest time.Duration) {
	for _, d := range s.sides {
		for _, r := range d.rails {
			longest = max(longest, r.took)
		}
	}
	return longest
}

// left is how much longer the attempt takes that is under way, if there is one.
func (d *side) left(r *sideRail) time.Duration {
	if r.State != Connecting {
		return 0
	}
	return time.Duration(r.until - d.now)
}

// oneLasts has a path last by which side 0 can connect, and holds that it does so.
func (s *sim) oneLasts() {
	a := s.sides[0]
	p := s.lasting(a)
	if a.peer.Met && s.IntN(2) == 0 {
		s.note("side 0 has nothing to say but goodbye")
		a.env.Leaving, a.env.Parting, a.depends = true, true, false
	}
	within := a.left(a.rail(p)) + 4*time.Second
	if !a.peer.Met {
		within += 3 * s.longest()
	}
	if a.rail(p).State == Gone {
		return // as somebody else's, for good
	}
	s.connects(a.rail(p), within)
	if a.over != NoReason {
		a.mayFail(p)
	}
}

// oneLastsForThePeer has a path last by which side 1 can connect, and none by which side 0 can: that asks side 1 to.
func (s *sim) oneLastsForThePeer() {
	a, b := s.sides[0], s.sides[1]
	p := s.lasting(b)
	for _, q := range s.paths {
		q.answers[0] = s.failure(failures[:3])
	}
	r := b.rail(p)
	if r.State == Gone {
		return
	}
	// Else side 1 may have failed by the path before, or its attempt may end after it is to have answered.
	fresh := r.began == 0 && !p.unmade[1] && a.peer.answerBy == 0
	s.connects(r, b.left(r)+3*s.longest()+12*time.Second)
	if a.over != NoReason && fresh {
		a.mayFail(p)
	}
}

// lasting has a path be good for a side from now on.
func (s *sim) lasting(d *side) *path {
	p := s.paths[s.IntN(len(s.paths))]
	if p.place[d.no] == absent {
		p = s.paths[0]
	}
	p.answers[d.no], p.since = answer{nil, soon}, s.now
	s.note("%s lasts for side %d", p.name, d.no)
	return p
}

// connects holds that side 0 is connected within a time, by a rail of its own or of the peer's, unless a side has ended. If all ways
// have failed already, side 0 is done with trying, and only waits for side 1 to answer its call. What is left out need not connect.
func (s *sim) connects(r *sideRail, within time.Duration) {
	a, b := s.sides[0], s.sides[1]
	done := func() bool { return a.peer.Connected() || a.ended() || b.ended() }
	if !s.comes(within, func() bool { return done() || a.peer.answerBy != 0 }) {
		s.fatal("%s lasts, and for %v side 1 was not connected", r.path.name, within)
	}
	s.comes(3*AppealTime, done)
}

// comes lets time pass until something is so, and reports whether it was within a time.
func (s *sim) comes(within time.Duration, so func() bool) bool {
	for until := s.now + int64(within); s.now < until && !so(); {
		s.run(s.now + int64(100*time.Millisecond))
	}
	return so()
}

// noneLasts has no path last, or the peer die, and holds that it fails then. Without pml_peer_timeout it need not.
func (s *sim) noneLasts() {
	a, b := s.sides[0], s.sides[1]
	if s.IntN(2) == 0 {
		s.note("side 1 dies")
		b.dead = true
		b.end()
	}
	longest := s.longest()
	for _, p := range s.paths {
		s.cut(p)
		longest = max(longest, a.left(a.rail(p)))
		for i := range p.answers {
			if p.answers[i].err == nil && !b.dead {
				p.answers[i] = s.failure(failures[:4])
			}
			longest = max(longest, p.answers[i].after)
		}
	}
	within := 4*longest + 80*time.Second
	if a.env.PeerTimeout != 0 && !s.comes(within, a.ended) {
		s.fatal("no path lasts, and for %v side 1 has not failed", within)
	}
}
