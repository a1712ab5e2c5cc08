package strand

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/strandmp/strand/coll"
	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// Barrier returns when all processes of the communicator have called it.
//
// It is a collective call, as Bcast, Reduce, Dup, Split and their kin are. All processes of the communicator make
// these in the same order, one after the other (MPI 4.1, section 6.14); a second goroutine that
// makes one meanwhile gets [ErrConcurrent]. A process that leaves a collective call with an error, its context's for
// example, tells the others. Their calls then end with a [*CollectiveError]: this one, a later one, or an earlier one that
// they are in yet, though it may have ended well elsewhere ([Comm.Agree] finds that out). The communicator
// refuses further ones with [ErrOutOfStep], as ULFM's MPIX_Comm_revoke has it. Messages go on, and [Comm.Shrink] makes the next communicator. What a call refuses before it begins, a root that is none for example, does
// no harm: the process may make the call again.
func (c *Comm) Barrier(ctx context.Context) error {
	return c.carry(ctx, call{name: "Barrier"}, func(ctx context.Context, k *courier) error { return coll.Barrier(ctx, k, &c.world.choice) })
}

// An Ordering says which of one sender's messages a receive for any tag takes.
type Ordering uint8

const (
	// Strict takes the message that was sent first, as MPI demands (MPI 4.1, section 3.5),
	// even if the receive has to wait for it.
	Strict Ordering = iota
	// Relaxed takes the message that has arrived first, unless an older one with the same tag
	// is missing. A lost packet then blocks only receives of its own tag: there is no
	// head-of-line blocking between tags.
	Relaxed
)

// An Urgency says which messages to the same process go first.
type Urgency uint8

const (
	// Normal messages to a process go in the order in which they were sent, as far as there is
	// room for them. Those of the world's own communicator are normal.
	Normal Urgency = iota
	// Urgent messages overtake normal ones that wait to be sent to the same process. Over TCP they
	// have a connection of their own, which is made when the first of them is sent; over SCTP a
	// stream that does not wait for the others. They are for what is short and seldom: to stop a
	// computation, to ask how far it is, to fetch a lock. Long urgent messages hold up everything
	// else.
	//
	// Messages of different communicators never had an order, so nothing that a program may rely
	// on changes: an urgent message may be received before normal ones that were sent earlier,
	// and among themselves urgent messages have the order of any communicator.
	Urgent
)

// A DupOption says how a communicator differs from the one that [Comm.DupWith] makes it of. It is an
// [Ordering] or an [Urgency].
type DupOption interface {
	set(*manner)
}

// manner is how the messages of a communicator are treated.
type manner struct {
	order   Ordering
	urgency Urgency
}

func (o Ordering) set(m *manner) { m.order = o }
func (u Urgency) set(m *manner)  { m.urgency = u }

// Dup makes a communicator of the same processes with a context of its own, and
// with the same ordering and urgency. All processes of the communicator call it.
func (c *Comm) Dup(ctx context.Context) (*Comm, error) { return c.DupWith(ctx) }

// DupWith is Dup with another ordering, another urgency or both, which all processes give alike. Of
// two options of one kind the last counts. The world's own communicator has the ordering of the
// parameter pml_ordering, and its messages are normal.
func (c *Comm) DupWith(ctx context.Context, options ...DupOption) (d *Comm, err error) {
	given.Context(ctx)
	if c == nil {
		return nil, ErrNilComm
	}
	as := c.manner
	for _, o := range options {
		o.set(&as)
	}
	what := call{name: "Dup", also: fmt.Sprintf(", ordering %d, urgency %d", as.order, as.urgency)}
	err = c.collectively(ctx, what, func(number int64) error {
		if d, err = c.dup(ctx, as, tagOf(number)); err == nil {
			c.makes(number, d)
		}
		return err
	})
	return d, err
}

func (c *Comm) dup(ctx context.Context, as manner, tag int) (*Comm, error) {
	var id [8]byte
	if c.rank == 0 {
		binary.LittleEndian.PutUint64(id[:], c.world.nextID())
	}
	if err := c.broadcast(ctx, id[:], tag); err != nil {
		return nil, err
	}
	return c.world.newComm(binary.LittleEndian.Uint64(id[:]), c.group, as)
}

// nextID returns the id of a new communicator, unique in the job.
func (w *World) nextID() uint64 { return pml.ContextID(w.Rank(), w.counter.Add(1)-1) }

// broadcast passes buf of rank 0 to all others along a binomial tree.
func (c *Comm) broadcast(ctx context.Context, buf []byte, tag int) error {
	n, mask := c.Size(), 1
	for ; mask < n; mask <<= 1 {
		if c.rank&mask != 0 {
			if err := c.recvDue(ctx, "Dup", buf, c.rank-mask, tag); err != nil {
				return err
			}
			break
		}
	}
	for mask >>= 1; mask > 0; mask >>= 1 {
		if c.rank+mask < n {
			if err := c.coll.Send(ctx, buf, nil, c.rank+mask, tag, pml.Standard); err != nil {
				return err
			}
		}
	}
	return nil
}

// recvDue receives a message of the buffer's length.
func (c *Comm) recvDue(ctx context.Context, name string, buf []byte, from, tag int) error {
	st, err := c.coll.Recv(ctx, buf, nil, from, tag)
	if err == nil && st.Count != len(buf) {
		err = c.misfit(name, from, int64(st.Count), int64(len(buf)))
	}
	return err
}

// Split makes one communicator for each colour, of the processes that give it. Their ranks are in
// the order of their keys and, among equal keys, of their ranks in c. A colour is 0 or more; a
// process that gives [Undefined] is in none and gets nil. All processes of c call it.
func (c *Comm) Split(ctx context.Context, color, key int) (*Comm, error) {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return nil, err
	}
	if color < Undefined {
		return nil, fmt.Errorf("Split: colour %d is neither Undefined nor 0 or more", color)
	}
	return c.splitAs(ctx, call{name: "Split"}, color, key)
}

// splitAs is Split, called by the name of what it is for.
func (c *Comm) splitAs(ctx context.Context, what call, color, key int) (s *Comm, err error) {
	err = c.collectively(ctx, what, func(number int64) error {
		s, err = c.splitIn(ctx, what.name, number, color, key)
		return err
	})
	return s, err
}

// splitIn is Split as part of a call of that name.
func (c *Comm) splitIn(ctx context.Context, name string, number int64, color, key int) (s *Comm, err error) {
	if s, err = c.split(ctx, name, color, key, tagOf(number)); err == nil && s != nil {
		c.makes(number, s)
	}
	return s, err
}

func (c *Comm) split(ctx context.Context, name string, color, key, tag int) (*Comm, error) {
	if c.rank == 0 {
		return c.splitAsRoot(ctx, name, color, key, tag)
	}
	wish := encodeInts(color, key)
	if err := c.coll.Send(ctx, wish, nil, 0, tag, pml.Standard); err != nil {
		return nil, err
	}
	answer := make([]byte, 8+8*c.Size())
	st, err := c.coll.Recv(ctx, answer, nil, 0, tag)
	if err != nil {
		return nil, err
	}
	if st.Count%8 != 0 || st.Count == 8 {
		return nil, c.misfit(name, 0, int64(st.Count), int64(len(answer)))
	}
	return c.fromAnswer(name, answer[:st.Count])
}

// member is a process that takes part in a split.
type member struct{ rank, color, key int }

// splitAsRoot gathers what the processes want, forms the groups and tells each
// process its own.
func (c *Comm) splitAsRoot(ctx context.Context, name string, color, key, tag int) (*Comm, error) {
	members := []member{{0, color, key}}
	wish := make([]byte, 16)
	for rank := 1; rank < c.Size(); rank++ {
		if err := c.recvDue(ctx, name, wish, rank, tag); err != nil {
			return nil, err
		}
		members = append(members, member{rank, int(int64(binary.LittleEndian.Uint64(wish))), int(int64(binary.LittleEndian.Uint64(wish[8:])))})
	}
	slices.SortFunc(members, func(a, b member) int {
		return cmp.Or(cmp.Compare(a.color, b.color), cmp.Compare(a.key, b.key), cmp.Compare(a.rank, b.rank))
	})
	var own []byte
	for len(members) > 0 {
		n := slices.IndexFunc(members, func(m member) bool { return m.color != members[0].color })
		if n < 0 {
			n = len(members)
		}
		answer := c.answer(members[:n])
		for _, m := range members[:n] {
			if m.rank == 0 {
				own = answer
			} else if err := c.coll.Send(ctx, answer, nil, m.rank, tag, pml.Standard); err != nil {
				return nil, err
			}
		}
		members = members[n:]
	}
	return c.fromAnswer(name, own)
}

// answer tells the members of one group its context id and their world ranks; it
// is empty for those who want none.
func (c *Comm) answer(members []member) []byte {
	if members[0].color == Undefined {
		return nil
	}
	b := binary.LittleEndian.AppendUint64(nil, c.world.nextID())
	for _, m := range members {
		b = binary.LittleEndian.AppendUint64(b, uint64(c.group.World(m.rank)))
	}
	return b
}

// fromAnswer makes the communicator that an answer tells of. What another call has brought in its place hardly names members of c, this process among
// them.
func (c *Comm) fromAnswer(name string, b []byte) (*Comm, error) {
	if len(b) == 0 {
		return nil, nil
	}
	id := binary.LittleEndian.Uint64(b)
	var world []int32
	for b = b[8:]; len(b) >= 8; b = b[8:] {
		world = append(world, int32(binary.LittleEndian.Uint64(b)))
	}
	group := pml.NewGroup(world)
	if group.Rank(c.world.Rank()) < 0 || slices.ContainsFunc(world, func(rank int32) bool { return c.group.Rank(int(rank)) < 0 }) {
		return nil, c.strayed(name, 0)
	}
	return c.world.newComm(id, group, c.manner)
}

func encodeInts(values ...int) []byte {
	var b []byte
	for _, v := range values {
		b = binary.LittleEndian.AppendUint64(b, uint64(int64(v)))
	}
	return b
}
