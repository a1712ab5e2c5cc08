package strand

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// The lowest of Create's list, who leads, may fail, or hear that collective calls have ended, between its answers. Then some members have the
// communicator and others have not. These do not even know which one it is, and would be waited for there for ever. So a member that
// gets no answer tells the number of its call, by a notice. The answer has the numbers of all members' calls, so
// that who has the communicator knows that it is this one, and passes the notice on. Where those in the list that live are in a
// circle, whoever has the communicator stands beside one that has told, or beside one that passes on.

// birth is a communicator of Create, or the call that is about to make it. The engine's lock guards it.
type birth struct {
	ranks   []int // in the communicator that it is made of
	numbers []int // of their calls, in the same order; the leader's has none
	comm    *Comm // nil: it is not made, or not yet
	missing *ask  // one that has got none, though it was to make this one
	told    map[int]bool
}

// ask is a call of Create: the rank that makes it, and its number there.
type ask struct{ rank, number int }

// mostAsks is how many calls without an answer are kept for communicators that are not made yet. Members have a few.
const mostAsks = 1024

// expects notes that a call is about to make a communicator.
func (c *Comm) expects(b *birth) {
	c.world.pml.Locked(func() { c.births = append(c.births, b) })
}

// bears notes that a call has made a communicator.
func (c *Comm) bears(b *birth, d *Comm, numbers []int) {
	c.world.pml.Locked(func() {
		b.comm, b.numbers = d, numbers
		d.forget = func() { c.forgets(b) }
		for _, a := range c.unanswered {
			c.misses(b, a)
		}
	})
}

// bearsNot notes that a call makes no communicator. If it has got no answer, others may make it.
func (c *Comm) bearsNot(b *birth, unanswered bool, number int) {
	c.world.pml.Locked(func() {
		if !unanswered {
			c.forgets(b)
			return
		}
		b.missing = &ask{c.rank, number}
		c.tellMissing(b)
		c.retire()
	})
}

func (c *Comm) forgets(b *birth) {
	c.births = slices.DeleteFunc(c.births, func(o *birth) bool { return o == b })
	c.retire()
}

// bearing reports whether there is a communicator, or will be, that has to hear of members which have not made it.
func (c *Comm) bearing() bool {
	return slices.ContainsFunc(c.births, func(b *birth) bool { return b.comm != nil || b.missing == nil })
}

// heardMissing takes what is told of a call that has got no answer.
func (c *Comm) heardMissing(b []byte) {
	if len(b) < 8 {
		return
	}
	a := ask{int(binary.LittleEndian.Uint32(b)), int(binary.LittleEndian.Uint32(b[4:]))}
	for _, b := range c.births {
		if b.comm != nil && c.misses(b, a) {
			return
		}
	}
	if len(c.unanswered) >= mostAsks {
		c.unanswered = slices.Delete(c.unanswered, 0, 1)
	}
	c.unanswered = append(c.unanswered, a)
}

// misses reports whether a call was to make a communicator that is there. Then its collective calls end.
func (c *Comm) misses(b *birth, a ask) bool {
	place := slices.Index(b.ranks, a.rank)
	if place < 0 || b.missing != nil || b.numbers[place] != a.number {
		return false
	}
	b.missing = &a
	c.tellMissing(b)
	b.comm.isUnmade(fmt.Errorf("%w: rank %d has not made this communicator: its Create has failed", ErrOutOfStep, place))
	return true
}

// tellMissing tells the neighbours in the list, those that were not told, of a call that has got no answer.
func (c *Comm) tellMissing(b *birth) {
	if b.told == nil {
		b.told = make(map[int]bool)
	}
	said := binary.LittleEndian.AppendUint32(notice(noticeMissing, c.id), uint32(b.missing.rank))
	said = binary.LittleEndian.AppendUint32(said, uint32(b.missing.number))
	c.neighbours(b.ranks, func(rank int) {
		if !b.told[rank] {
			b.told[rank] = true
			c.world.pml.Notify(c.group.World(rank), slices.Clone(said))
		}
	})
}

// tellMissingAgain finds other neighbours, as a member has gone.
func (c *Comm) tellMissingAgain() {
	for _, b := range c.births {
		if b.missing != nil {
			c.tellMissing(b)
		}
	}
}
