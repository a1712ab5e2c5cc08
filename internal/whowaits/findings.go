package whowaits

import (
	"fmt"
	"slices"
	"strings"
)

// findEnded finds waits for ranks that have ended.
func (j *judge) findEnded() {
	j.eachStuck(func(rank int, w *Wait) {
		if j.exists(w.Peer) && j.ranks[w.Peer].Ended {
			j.find("ended", fmt.Sprintf("rank %d waits for rank %d, which has ended or has left the job: %s.", rank, w.Peer, describe(w)), rank)
		}
	})
}

// findMisfits finds receives beside which there is a message that they would take, were it not
// for its tag or its communicator.
func (j *judge) findMisfits() {
	j.eachStuck(func(rank int, w *Wait) {
		if w.Kind == Send || w.Collective {
			return
		}
		var tag, comm *Message
		all := j.ranks[rank].Report.Unexpected
		for i := range all {
			m := &all[i]
			switch {
			case m.Collective || m.Taken || !j.seen[rank][m.name()] || w.Peer != Any && w.Peer != m.From:
			case m.Comm == w.Comm && m.Tag != w.Tag:
				tag = first(tag, m)
			case m.Comm != w.Comm && (w.Tag == Any || m.Tag == w.Tag):
				comm = first(comm, m)
			}
		}
		switch {
		case comm != nil:
			j.find("communicator", fmt.Sprintf("nothing matches what rank %d waits for: %s. From rank %d there is a message of %d bytes with tag %d in another communicator, %s: wrong communicator?",
				rank, describe(w), comm.From, comm.Bytes, comm.Tag, NameComm(comm.Comm)), rank)
		case tag != nil:
			j.find("tag", fmt.Sprintf("nothing matches what rank %d waits for: %s. From rank %d there is a message of %d bytes with tag %d: wrong tag?",
				rank, describe(w), tag.From, tag.Bytes, tag.Tag), rank)
		}
	})
}

func first(a, b *Message) *Message {
	if a != nil {
		return a
	}
	return b
}

// findCollectives finds collective calls that not all make, or not in the same order.
func (j *judge) findCollectives() {
	for rank := range j.ranks {
		if !j.stuck(rank) || j.ranks[rank].Report == nil {
			continue
		}
		for i := range j.ranks[rank].Report.Comms {
			if c := &j.ranks[rank].Report.Comms[i]; c.inCall() {
				j.compare(rank, c)
			}
		}
	}
}

// inCall reports whether a goroutine is in a collective call that has a number, as agreements have none.
func (c *Comm) inCall() bool { return c.In != "" && c.In != "Agree" && c.In != "Shrink" }

// compare compares a rank's collective call with those of the others. The lowest rank in a call speaks for all that are in it.
func (j *judge) compare(rank int, c *Comm) {
	if j.blamed(rank, c) {
		return
	}
	var missing []int
	c.Members.All(func(other int) {
		theirs := j.comm(other, c.ID)
		switch {
		case other == rank || !j.exists(other) || j.free[other] || theirs == nil: // nobody knows what one that has ended had called
		case theirs.Number < c.Number:
			missing = append(missing, other)
		case theirs.Number == c.Number && theirs.inCall() && theirs.In != c.In && rank < other && !j.blamed(other, theirs):
			ours, others := j.together(rank, c), j.together(other, theirs)
			j.find("collective", fmt.Sprintf("collective calls do not fit: %s in %s (%s), %s in %s (%s), each as call %d of %s: all ranks make the same calls in the same order.",
				ranksAre(ours), c.In, j.where(rank), ranksAre(others), theirs.In, j.where(other), c.Number, NameComm(c.ID)), append(ours, others...)...)
		}
	})
	if len(missing) == 0 {
		return
	}
	j.find("collective", fmt.Sprintf("rank %d is in %s, call %d of %s (%s), which %s not called: %s.",
		rank, c.In, c.Number, NameComm(c.ID), j.where(rank), ranksHave(missing), j.instead(missing, c.ID)), rank)
}

// instead says where ranks are that are not in a call of a communicator.
func (j *judge) instead(missing []int, id uint64) string {
	var instead []string
	for _, other := range missing[:min(len(missing), mostNamed)] {
		if in := j.inAnother(other, id); in != nil {
			instead = append(instead, fmt.Sprintf("rank %d is in %s of %s, out of order (%s)", other, in.In, NameComm(in.ID), j.where(other)))
		} else {
			instead = append(instead, fmt.Sprintf("rank %d waits elsewhere (%s)", other, j.where(other)))
		}
	}
	return strings.Join(instead, "; ")
}

// findAgreements finds agreements that not all members come to. The first rank of each tells.
func (j *judge) findAgreements() {
	told := make(map[uint64]bool)
	for rank := range j.ranks {
		for _, w := range j.waits[rank] {
			if !j.stuck(rank) || !w.agrees() || told[w.Comm] {
				continue
			}
			told[w.Comm] = true
			missing := j.dissenters(rank, w)
			j.find("collective", fmt.Sprintf("rank %d is in an agreement of %s (%s), to which %s not come: %s.",
				rank, NameComm(w.Comm), w.Call.text(), ranksHave(missing), j.instead(missing, w.Comm)), rank)
		}
	}
}

// mostNamed is how many ranks a finding tells of.
const mostNamed = 4

func ranksHave(ranks []int) string { return named(ranks) + number(ranks, " has", " have") }
func ranksAre(ranks []int) string  { return named(ranks) + number(ranks, " is", " are") }

func number(ranks []int, one, more string) string {
	if len(ranks) == 1 {
		return one
	}
	return more
}

// named names ranks, the first of many.
func named(ranks []int) string {
	if len(ranks) == 1 {
		return fmt.Sprintf("rank %d", ranks[0])
	}
	var names []string
	for _, r := range ranks[:min(len(ranks), mostNamed)] {
		names = append(names, fmt.Sprint(r))
	}
	text := "ranks " + strings.Join(names, ", ")
	if more := len(ranks) - mostNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// blamed reports whether a lower rank in the same call speaks for this one.
func (j *judge) blamed(rank int, c *Comm) bool {
	for other := range rank {
		if j.with(other, c) {
			return true
		}
	}
	return false
}

// with reports whether a rank is in a call of a communicator, and can not go on.
func (j *judge) with(rank int, c *Comm) bool {
	theirs := j.comm(rank, c.ID)
	return theirs != nil && j.stuck(rank) && theirs.In == c.In && theirs.Number == c.Number
}

// together are the ranks in a call that can not go on, from the lowest one on.
func (j *judge) together(lowest int, c *Comm) (all []int) {
	for rank := lowest; rank < len(j.ranks); rank++ {
		if j.with(rank, c) {
			all = append(all, rank)
		}
	}
	return all
}

// inAnother returns the communicator of which a rank is in a collective call, unless that is the
// given one.
func (j *judge) inAnother(rank int, id uint64) *Comm {
	if j.ranks[rank].Report == nil {
		return nil
	}
	for i := range j.ranks[rank].Report.Comms {
		if c := &j.ranks[rank].Report.Comms[i]; c.In != "" && c.ID != id {
			return c
		}
	}
	return nil
}

// where says where the first call of a rank that waits was made.
func (j *judge) where(rank int) string {
	for _, w := range j.waits[rank] {
		if w.Call != nil {
			return w.Call.text()
		}
	}
	return "where is not known"
}

// findCycles finds ranks that wait for each other in turn. Each cycle is told once.
func (j *judge) findCycles() {
	done := make([]bool, len(j.ranks))
	for start := range j.ranks {
		var path []int
		for rank := start; j.stuck(rank) && !done[rank]; {
			done[rank] = true
			path = append(path, rank)
			w := j.named(rank)
			if w == nil {
				break
			}
			rank = w.Peer
			if i := slices.Index(path, rank); i >= 0 {
				j.cycle(path[i:])
			}
		}
	}
}

// named returns a wait of a rank for another one that is given by its number, or nil.
func (j *judge) named(rank int) *Wait {
	for _, w := range j.waits[rank] {
		if w.Kind != Request && j.stuck(w.Peer) {
			return w
		}
	}
	return nil
}

func (j *judge) cycle(ranks []int) {
	var parts []string
	for _, rank := range ranks {
		w := j.named(rank)
		whom := fmt.Sprintf("rank %d", w.Peer)
		if w.Peer == rank {
			whom = "itself"
		}
		parts = append(parts, fmt.Sprintf("rank %d waits for %s (%s)", rank, whom, describe(w)))
	}
	j.find("cycle", "a cycle of waits: "+strings.Join(parts, "; ")+"."+j.sameCall(ranks), ranks...)
}

// sameCall says what may be wrong where all ranks of a cycle are in one and the same collective call.
func (j *judge) sameCall(ranks []int) string {
	var first *Comm
	for _, rank := range ranks {
		c := j.comm(rank, j.named(rank).Comm)
		if c == nil || c.In == "" {
			return ""
		}
		if first == nil {
			first = c
		}
		if c.ID != first.ID || c.In != first.In || c.Number != first.Number {
			return ""
		}
	}
	return fmt.Sprintf(" All of them are in the same call of %s: perhaps they have given it different roots, types or lengths (-p coll_check=on tells).", first.In)
}

// findNobody finds receives from any source that nobody is left to send to.
func (j *judge) findNobody() {
	j.eachStuck(func(rank int, w *Wait) {
		if w.Peer == Any {
			j.find("nobody", fmt.Sprintf("nothing is coming for rank %d (%s): all others that could send to it wait themselves, or have ended.", rank, describe(w)), rank)
		}
	})
}
