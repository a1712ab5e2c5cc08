package strand

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Who leaves a collective call early, with an error or because its context has ended, would have others wait for
// ever. So it tells all, by a notice that each passes on: to the ranks that are 1, 2, 4 … away in
// both directions, as Open MPI's reliable broadcast does, and to the next one that is there where one is gone. Then the call ends
// everywhere, and the communicator takes no other one. This is MPIX_Comm_revoke of ULFM (MPI 4.1 has not taken it up; the
// proposal's section 17.3.1), for collective calls alone.

// A CollectiveError says that a collective call has ended because another process has left it, or one that was made before it,
// early.
type CollectiveError struct {
	// Rank is the process that has left the call, by its rank in the communicator.
	Rank int
	// WorldRank is its rank in the world.
	WorldRank int
	// Call is the call that it has left: "Allreduce".
	Call string
	// Cause is the error with which it did, as text.
	Cause string
	// Failed is the process whose failure was the cause, or nil.
	Failed *PeerFailedError

	unlike bool // the cause was ErrRepresentation
}

// Error names the rank, the call and the cause.
func (e *CollectiveError) Error() string {
	world := ""
	if e.WorldRank != e.Rank {
		world = fmt.Sprintf(" (rank %d of the world)", e.WorldRank)
	}
	return fmt.Sprintf("rank %d%s has left %s early: %s", e.Rank, world, e.Call, e.Cause)
}

// Unwrap returns [ErrOutOfStep] and, if a process has failed, its error, or [ErrRepresentation] if that was the cause.
func (e *CollectiveError) Unwrap() []error {
	switch {
	case e.Failed != nil:
		return []error{ErrOutOfStep, e.Failed}
	case e.unlike:
		return []error{ErrOutOfStep, ErrRepresentation}
	}
	return []error{ErrOutOfStep}
}

// leaving is what a communicator knows of calls that were left: the lowest number of one that some process does not make, nor any with a
// higher number. So others would wait for it too in communicators that such calls have made. Who leaves a call that goes on by itself may
// have made others since: then it is the next one. The engine's lock guards it.
type leaving struct {
	number int64 // 0: none was
	notice []byte
	error  *CollectiveError
	told   map[int]bool
}

var errRevoked = errors.New("it makes no further collective call there")

// Revoke ends the collective calls of the communicator everywhere, as if this process had left one early. It is for who has found that
// something is wrong in another communicator, and stops using this one, in which others may wait for it (MPIX_Comm_revoke of ULFM, but that
// messages go on). It does not wait, and does nothing where calls have ended before.
func (c *Comm) Revoke() error {
	if err := c.usable(); err != nil {
		return err
	}
	number, err := c.turn.start("Revoke")
	if err == nil {
		err = errRevoked
		c.turn.fail("Revoke", err)
	}
	c.tellLeft("Revoke", number, err)
	return nil
}

// covers reports whether it is known that a process makes no call from that number on.
func (l *leaving) covers(number int64) bool { return l.number > 0 && l.number <= number }

// What a notice has in place of the rank of who had failed.
const (
	nobodyFailed = -1
	otherMachine = -2 // the cause was ErrRepresentation
)

// mostCause is how much is told of a cause, in bytes.
const mostCause = 600

// tellLeft tells all that this process has left a call, and makes none from that number on, unless they know of such a number, or a lower one.
func (c *Comm) tellLeft(name string, number int64, err error) {
	b := binary.LittleEndian.AppendUint64(nil, uint64(number))
	b = binary.LittleEndian.AppendUint32(b, uint32(c.rank))
	failed := nobodyFailed
	if e, is := errors.AsType[*PeerFailedError](err); is {
		failed = c.group.Rank(e.WorldRank) // the error may be of another communicator
	} else if errors.Is(err, ErrRepresentation) {
		failed = otherMachine
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(int32(failed)))
	b = append(b, byte(len(name)))
	b = append(b, name...)
	cause := err.Error()
	b = append(b, strings.ToValidUTF8(cause[:min(len(cause), mostCause)], "")...)
	c.world.pml.Locked(func() {
		c.coll.Revoke(outOfStep(name, err))
		c.heardLeft(b)
	})
}

// heardLeft takes what is told of a call that was left, and passes it on unless that is known, with its own number if that is lower.
func (c *Comm) heardLeft(b []byte) {
	e, number, err := c.decodeLeft(b)
	if err != nil || c.leaving.covers(number) {
		return
	}
	if c.turn.breaks(e) {
		c.coll.Revoke(e)
	}
	number = min(number, c.turn.next()) // this process begins no other one either
	said := append(notice(noticeLeft, c.id), b...)
	binary.LittleEndian.PutUint64(said[noticeHeader:], uint64(number))
	c.leaving = leaving{number, said, e, make(map[int]bool)}
	c.tellNeighbours()
	for by, d := range c.made {
		if by >= number {
			d.isMissing(e)
		}
	}
}

// isMissing takes note of a process that has left the call by which the communicator was made, or one before that. Where it is no
// member of this one, a member that has heard of it in that call has left it for that.
func (c *Comm) isMissing(e *CollectiveError) {
	c.isUnmade(fmt.Errorf("%w: not all ranks may have made this communicator: %w", ErrOutOfStep, e))
}

// isUnmade ends its calls, and those of what it has made in turn: the process that is missed here has made none of that.
func (c *Comm) isUnmade(err error) {
	c.unmade = err
	c.turn.breaks(err)
	c.coll.Unmake(err)
	c.endAgreements(err)
	for _, d := range c.made {
		d.isUnmade(err)
	}
}

// makes notes that a call has made a communicator.
func (c *Comm) makes(number int64, d *Comm) {
	c.world.pml.Locked(func() {
		if c.made == nil {
			c.made = make(map[int64]*Comm)
		}
		c.made[number] = d
		d.forget = func() {
			delete(c.made, number)
			c.retire()
		}
		switch {
		case c.unmade != nil:
			d.isUnmade(c.unmade)
		case c.leaving.covers(number):
			d.isMissing(c.leaving.error)
		}
	})
}

var errNotice = errors.New("malformed notice")

func (c *Comm) decodeLeft(b []byte) (e *CollectiveError, number int64, err error) {
	if len(b) < leftHeader || len(b) < leftHeader+int(b[leftHeader-1]) {
		return nil, 0, errNotice
	}
	number = int64(binary.LittleEndian.Uint64(b))
	rank, failed := int(binary.LittleEndian.Uint32(b[8:])), int(int32(binary.LittleEndian.Uint32(b[12:])))
	if number <= 0 || rank < 0 || rank >= c.Size() || failed >= c.Size() {
		return nil, 0, errNotice
	}
	name, cause := b[leftHeader:leftHeader+int(b[leftHeader-1])], b[leftHeader+int(b[leftHeader-1]):]
	e = &CollectiveError{Rank: rank, WorldRank: c.group.World(rank), Call: strings.ToValidUTF8(string(name), "?"), Cause: strings.ToValidUTF8(string(cause), "?")}
	if e.unlike = failed == otherMachine; failed >= 0 {
		e.Failed = &PeerFailedError{Rank: failed, WorldRank: c.group.World(failed), Cause: fmt.Errorf("rank %d says: %s", rank, e.Cause)}
	}
	return e, number, nil
}

// leftHeader is what stands before the name, in bytes.
const leftHeader = 17

// tellNeighbours tells those that have not been told.
func (c *Comm) tellNeighbours() {
	l := &c.leaving
	c.neighbours(nil, func(to int) {
		if !l.told[to] {
			l.told[to] = true
			c.world.pml.Notify(c.group.World(to), l.notice)
		}
	})
}

// neighbours calls tell for the neighbours in a list of ranks that has this one, or in that of all ranks. Where one is gone it calls it
// for the next one that is there; so all that live are reached, whoever else fails.
func (c *Comm) neighbours(list []int, tell func(rank int)) {
	n, own := len(list), slices.Index(list, c.rank)
	if list == nil {
		n, own = c.Size(), c.rank
	}
	for distance := 1; distance < n; distance *= 2 {
		for _, step := range []int{1, n - 1} {
			for at := (own + step*distance) % n; at != own; at = (at + step) % n {
				to := at
				if list != nil {
					to = list[at]
				}
				if !c.isGone(to) {
					tell(to)
					break
				}
			}
		}
	}
}

// departed is why nothing more will be heard of a member, or nil. The engine's lock is held.
func (c *Comm) departed(rank int) error { return c.world.pml.Departed(c.group.World(rank)) }

// isGone reports whether a member takes no notice any more: nothing will be heard of it, or it has freed the communicator.
func (c *Comm) isGone(rank int) bool { return c.departed(rank) != nil || c.pacts.absent[rank] }
