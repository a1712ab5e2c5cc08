package strand

import (
	"sync/atomic"

	"github.com/strandmp/strand/pml"
)

// Wildcards and limits of point-to-point operations.
const (
	// AnySource lets a receive or a probe take messages of any rank.
	AnySource = pml.AnySource
	// AnyTag lets a receive or a probe take messages with any tag.
	AnyTag = pml.AnyTag
	// ProcNull is the rank of no process: operations with it do nothing and
	// complete at once (MPI 4.1, section 3.10).
	ProcNull = -2
	// MaxTag is the largest tag.
	MaxTag = pml.MaxTag
	// Undefined is the colour of a process that wants no communicator of Split.
	Undefined = -1
)

// A Comm is a communicator: a group of processes, numbered from 0, and a context of its own,
// so that its messages match those of no other communicator. The ranks that its methods take
// and return are the group's.
type Comm struct {
	world *World
	id    uint64
	p2p   *pml.Context
	coll  *pml.Context // for the library's own messages
	group *pml.Group
	rank  int
	first bool // the world's own
	manner
	turn    turn
	courier courier         // of blocking collective calls, one at a time
	leaving leaving         // the engine's lock guards these
	made    map[int64]*Comm // by calls of c, by the tags of these
	forget  func()          // that this one was made so
	unmade  error           // some member has not made it
	pacts   pacts
	freed   bool // on this process
	// Of Create: a goroutine is in it, and how often this process has asked another one.
	creating  atomic.Bool
	creations atomic.Uint32
	births    []*birth // what it has made, or is about to make; the engine's lock guards these
	// Calls of other members that have got no answer, and that no communicator is known to miss.
	unanswered []ask
	where      whereabouts
	holding    holding
}

// newComm makes the communicator of a context id; the next id is its own too.
func (w *World) newComm(id uint64, group *pml.Group, as manner) (*Comm, error) {
	c := &Comm{world: w, id: id, group: group, rank: group.Rank(w.Rank()), first: w.comm == nil, manner: as}
	urgent := as.urgency == Urgent
	var err error
	if c.p2p, err = w.pml.NewContext(2*id, group, pml.Manner{Relaxed: as.order == Relaxed, Urgent: urgent}); err != nil {
		return nil, err
	}
	if c.coll, err = w.pml.NewContext(2*id+1, group, pml.Manner{Urgent: urgent}); err != nil {
		c.p2p.Free()
		return nil, err
	}
	w.enter(c)
	return c, nil
}

// Rank is this process's number in the communicator, from 0 to Size−1.
func (c *Comm) Rank() int { return c.rank }

// Size is the number of processes in the communicator.
func (c *Comm) Size() int { return c.group.Size() }

// World returns the world the communicator belongs to.
func (c *Comm) World() *World { return c.world }

// Translate returns the rank that a process, known by its rank in c, has in another
// communicator of the same world. It is false if the process is no member of that one, or if
// rank is not a rank of c. ProcNull is ProcNull everywhere. World.Comm translates from and to
// ranks of the world (MPI_Group_translate_ranks).
func (c *Comm) Translate(rank int, to *Comm) (int, bool) {
	if rank == ProcNull {
		return ProcNull, true
	}
	if rank < 0 || rank >= c.Size() {
		return 0, false
	}
	if r := to.group.Rank(c.group.World(rank)); r >= 0 {
		return r, true
	}
	return 0, false
}

// Free ends the communicator on this process. Receives that have no message end
// with ErrFreed; messages that nobody has received are dropped.
func (c *Comm) Free() error {
	if c == nil {
		return ErrNilComm
	}
	if c.first {
		return ErrWorldComm
	}
	c.world.pml.Locked(func() {
		if c.freed {
			return
		}
		c.freed = true
		c.endAgreements(ErrFreed)
		c.skipAgreements()
		c.p2p.FreeLocked()
		c.coll.FreeLocked()
		c.retire()
	})
	c.holding.release()
	return nil
}

// usable reports an error if the communicator is nil, or was freed, or if its world was closed.
func (c *Comm) usable() error {
	if c == nil {
		return ErrNilComm
	}
	return c.coll.Err()
}

// AckFailed takes note of the members that have failed until now (MPIX_Comm_failure_ack of
// ULFM). A receive from any source fails while a failure has not been taken note of, since
// its message might have come from that member; after AckFailed it waits for the others.
// If all other members have left, it waits for what this process sends to itself.
func (c *Comm) AckFailed() error {
	if c == nil {
		return ErrNilComm
	}
	c.p2p.AcknowledgeFailures()
	c.world.pml.Locked(func() { c.pacts.known = c.goneMembers() })
	return nil
}
