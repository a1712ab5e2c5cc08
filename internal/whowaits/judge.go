package whowaits

import (
	"slices"
	"time"
)

// Pause is how long to wait between the two reports that [Judge] takes of each rank.
const Pause = 200 * time.Millisecond

// A Finding is a reason why ranks wait, in words.
type Finding struct {
	// Kind is "cycle", "ended", "tag", "communicator", "collective" or "nobody".
	Kind  string `json:"kind"`
	Ranks []int  `json:"ranks"` // that wait for this reason
	Text  string `json:"text"`
	Ends  bool   `json:"ends,omitempty"` // by itself, since one of the calls gives up
}

// Lasts reports whether one of the reasons does not end by itself: there is a deadlock.
func Lasts(findings []Finding) bool {
	return slices.ContainsFunc(findings, func(f Finding) bool { return !f.Ends })
}

// Judge says why ranks wait that nothing can have go on. It takes two reports of each rank, in
// the order of ranks; all of the first were made before any of the second.
//
// A call that both reports of a rank show has waited at all times between them. So there was a
// moment at which all such calls waited together, and what Judge finds is no artefact of asking
// ranks at different times. A message that is on its way is seen by the numbers of messages sent
// and arrived. A rank counts as one that may go on if it does not answer, if it waits for
// nothing, if one of its calls may end, or if it waits for more than it tells; and if its two reports differ in what its calls wait for,
// or in what it has sent: a goroutine has gone on meanwhile, and where it was at that moment is not known. One that has ended since the
// first report may have sent before. That a goroutine which computes will help later can not be
// seen; that there is one is told beside what is found ([WriteElsewhere]).
//
// A call whose context ends at a known time ends by itself, and so does World.Close. Where there is no deadlock for that reason
// alone, Judge says what would be one else.
func Judge(then, now []Rank) []Finding {
	j := newJudge(then, now)
	if j.judge(); len(j.findings) > 0 {
		return j.findings
	}
	j = newJudge(then, now)
	j.forever = true
	j.judge()
	for i := range j.findings {
		j.findings[i].Ends = true
	}
	return j.findings
}

// judge finds all reasons.
func (j *judge) judge() {
	j.spread()
	j.findEnded()
	j.findMisfits()
	j.findCollectives()
	j.findAgreements()
	j.findCycles()
	j.findNobody()
}

// Awaited are the ranks that others wait for and that may go on by themselves, by the same reports: they do not answer, or are in
// no call that waits. Who closes his world waits too. Where no deadlock is found they are what there is to look at.
func Awaited(then, now []Rank) (awaited []int) {
	j := newJudge(then, now)
	may := func(rank int) bool {
		return j.exists(rank) && !j.ranks[rank].Ended && (!j.waiting(rank) || j.moved[rank])
	}
	told := make([]bool, len(now))
	for rank := range now {
		for _, w := range j.waits[rank] {
			if w.State == Unmatched {
				j.helpers(rank, w, func(other int) {
					if may(other) {
						told[other] = true
					}
				})
			}
		}
		for _, other := range j.partners(then, rank) {
			if may(other) {
				told[other] = true
			}
		}
	}
	for rank := range told {
		if told[rank] {
			awaited = append(awaited, rank)
		}
	}
	return awaited
}

// partners are the ranks that a rank which closes its world waits for, and has waited for before.
func (j *judge) partners(then []Rank, rank int) (all []int) {
	now := j.ranks[rank].Report
	if now == nil || now.Closing == nil || rank >= len(then) || then[rank].Report == nil || then[rank].Report.Closing == nil {
		return nil
	}
	for _, other := range now.Closing.Ranks {
		if slices.Contains(then[rank].Report.Closing.Ranks, other) {
			all = append(all, other)
		}
	}
	return all
}

// judge is what is known of a job.
type judge struct {
	ranks    []Rank
	waits    [][]*Wait // by rank: those of calls that wait, and have waited before
	moved    []bool    // by rank: it has gone on between the reports
	free     []bool    // by rank: it may go on
	forever  bool      // as if no call gave up by itself
	seen     map[int]map[arrived]bool
	findings []Finding
}

// arrived names a message.
type arrived struct {
	comm       uint64
	collective bool
	from       int
	seq        uint32
}

func (m *Message) name() arrived { return arrived{m.Comm, m.Collective, m.From, m.Seq} }

func newJudge(then, now []Rank) *judge {
	j := &judge{
		ranks: slices.Clone(now), waits: make([][]*Wait, len(now)), moved: make([]bool, len(now)), free: make([]bool, len(now)),
		seen: make(map[int]map[arrived]bool),
	}
	for rank := range now {
		if rank >= len(then) || now[rank].Ended && !then[rank].Ended {
			j.ranks[rank].Ended = false
			continue
		}
		if now[rank].Report != nil && then[rank].Report != nil {
			j.both(rank, then[rank].Report, now[rank].Report)
		}
	}
	return j
}

// both takes the two reports of a rank.
func (j *judge) both(rank int, then, now *Report) {
	before := make(map[uint64]string)
	for _, w := range then.Waits {
		if w.Blocked {
			before[w.ID] = w.State
		}
	}
	calls := 0
	for i := range now.Waits {
		w := &now.Waits[i]
		if !w.Blocked {
			continue
		}
		calls++
		if before[w.ID] == w.State {
			j.waits[rank] = append(j.waits[rank], w)
		}
	}
	same := len(j.waits[rank])
	j.moved[rank] = same != len(before) || same != calls || then.sent() != now.sent()
	j.seen[rank] = make(map[arrived]bool)
	for i := range then.Unexpected {
		j.seen[rank][then.Unexpected[i].name()] = true
	}
}

// sent is how many messages a rank has sent in all its communicators.
func (r *Report) sent() (n uint64) {
	for i := range r.Comms {
		for _, p := range r.Comms[i].Pairs {
			n += uint64(p.Sent)
		}
	}
	return n
}

// spread finds the ranks that may go on: those that wait for nothing, and those that wait for
// them.
func (j *judge) spread() {
	for rank := range j.ranks {
		r := j.ranks[rank]
		j.free[rank] = !r.Ended && (!j.waiting(rank) || j.moved[rank] || r.Report.Cut)
	}
	for changed := true; changed; {
		changed = false
		for rank := range j.ranks {
			if !j.free[rank] && !j.ranks[rank].Ended && j.mayGoOn(rank) {
				j.free[rank], changed = true, true
			}
		}
	}
}

// waiting reports whether a rank has a call that waits for others. Who computes beside collective calls that go on by themselves has
// none.
func (j *judge) waiting(rank int) bool {
	others, program := false, false
	for _, w := range j.waits[rank] {
		others = others || w.Kind != Request || w.agrees()
		program = program || w.byProgram()
	}
	return others && program
}

// stuck reports whether a rank waits and can not go on.
func (j *judge) stuck(rank int) bool {
	return j.exists(rank) && !j.free[rank] && !j.ranks[rank].Ended
}

func (j *judge) exists(rank int) bool { return rank >= 0 && rank < len(j.ranks) }

// mayGoOn reports whether one of a rank's calls may end.
func (j *judge) mayGoOn(rank int) bool {
	for _, w := range j.waits[rank] {
		if (w.Kind != Request || w.agrees()) && j.mayEnd(rank, w) {
			return true
		}
	}
	return false
}

func (j *judge) mayEnd(rank int, w *Wait) bool {
	if w.State != Unmatched || !j.forever && j.givesUp(rank, w) {
		return true
	}
	if w.agrees() {
		return len(j.dissenters(rank, w)) == 0
	}
	ends := false
	j.helpers(rank, w, func(other int) {
		ends = ends || !j.exists(other) || j.free[other] || j.underWay(rank, w, other)
	})
	return ends
}

// givesUp reports whether a wait ends after a time: with the context of its call, or since World.Close waits no longer.
func (j *judge) givesUp(rank int, w *Wait) bool {
	return w.Left != "" || j.ranks[rank].Report.Closing != nil
}

// agrees reports whether the wait is for an agreement, which all members that live have to come to.
func (w *Wait) agrees() bool {
	return w.Kind == Request && w.Call != nil && (w.Call.Name == "Comm.Agree" || w.Call.Name == "Comm.Shrink")
}

// dissenters are the members of a communicator that keep a rank's agreement from being made: they wait for
// something else, and can not go on.
func (j *judge) dissenters(rank int, w *Wait) (all []int) {
	c := j.comm(rank, w.Comm)
	if c == nil {
		return nil
	}
	c.Members.All(func(other int) {
		too := func(their *Wait) bool { return their.Comm == w.Comm && their.agrees() }
		if other != rank && j.stuck(other) && !slices.ContainsFunc(j.waits[other], too) {
			all = append(all, other)
		}
	})
	return all
}

// helpers calls f for each rank that may end a wait.
func (j *judge) helpers(rank int, w *Wait, f func(other int)) {
	if w.Peer != Any {
		f(w.Peer)
		return
	}
	if c := j.comm(rank, w.Comm); c != nil {
		c.Members.All(func(other int) {
			if other != rank {
				f(other)
			}
		})
	}
}

// comm returns what a rank says of a communicator, or nil.
func (j *judge) comm(rank int, id uint64) *Comm {
	if !j.exists(rank) || j.ranks[rank].Report == nil {
		return nil
	}
	for i := range j.ranks[rank].Report.Comms {
		if c := &j.ranks[rank].Report.Comms[i]; c.ID == id {
			return c
		}
	}
	return nil
}

// underWay reports whether what ends the wait may be between the two ranks: for a receive a
// message that was sent and has not arrived, for a send the answer to it.
func (j *judge) underWay(rank int, w *Wait, other int) bool {
	if j.ranks[other].Report == nil {
		return false
	}
	if w.Kind == Send {
		return !j.untaken(other, arrived{w.Comm, w.Collective, rank, w.Seq})
	}
	return j.pair(other, w, rank).Sent != j.pair(rank, w, other).Arrived
}

// untaken reports whether a rank has said that it has no receive for a message.
func (j *judge) untaken(rank int, name arrived) bool {
	all := j.ranks[rank].Report.Unexpected
	for i := range all {
		if all[i].name() == name {
			return true
		}
	}
	return false
}

// pair is what a rank says of its messages with a peer in the wait's communicator.
func (j *judge) pair(rank int, w *Wait, peer int) Pair {
	if c := j.comm(rank, w.Comm); c != nil {
		for _, p := range c.Pairs {
			if p.Peer == peer && p.Collective == w.Collective {
				return p
			}
		}
	}
	return Pair{}
}

// find adds a finding.
func (j *judge) find(kind, text string, ranks ...int) {
	j.findings = append(j.findings, Finding{Kind: kind, Ranks: ranks, Text: text})
}

// eachStuck calls f for each wait of a rank that can not go on.
func (j *judge) eachStuck(f func(rank int, w *Wait)) {
	for rank := range j.ranks {
		if j.stuck(rank) {
			for _, w := range j.waits[rank] {
				if w.Kind != Request {
					f(rank, w)
				}
			}
		}
	}
}
