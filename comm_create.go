package strand

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/pml"
)

// Create makes a communicator of the ranks of c that are listed, numbered in that order, with c's
// ordering and urgency (MPI_Comm_create_group). They alone call it, all with the same list, which has
// the caller's own rank. Ranks that are in several lists make the calls in an order that suits all, as
// they do with blocking messages; a second goroutine that calls it meanwhile gets [ErrConcurrent].
//
// If lists differ whose lowest rank is the same, in their order too, or if a member fails before it has called, all that have called get an
// error, a [*PeerFailedError] for who has failed. Ranks whose lists have different lowest ranks make different calls, and wait as blocking messages would. If
// the context of a process ends first, or before the call, the new communicator takes no collective call: the others are told.
func (c *Comm) Create(ctx context.Context, ranks []int) (*Comm, error) {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return nil, err
	}
	if err := c.checkRanks(ranks); err != nil {
		return nil, err
	}
	if !c.creating.CompareAndSwap(false, true) {
		return nil, fmt.Errorf("Create: %w: another goroutine is in Create", ErrConcurrent)
	}
	x, err := c.creation(slices.Clone(ranks))
	if err != nil {
		c.creating.Store(false)
		return nil, err
	}
	made := make(chan created)
	go x.run(ctx, made)
	defer c.creating.Store(false)
	select {
	case m := <-made:
		return m.comm, m.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (c *Comm) checkRanks(ranks []int) error {
	seen := make(map[int]bool, len(ranks))
	for _, r := range ranks {
		if r < 0 || r >= c.Size() {
			return fmt.Errorf("Create: %w: %d, in a communicator of %d", ErrRank, r, c.Size())
		}
		if seen[r] {
			return fmt.Errorf("Create: rank %d is listed twice", r)
		}
		seen[r] = true
	}
	if !seen[c.rank] {
		return fmt.Errorf("Create: this process, rank %d, is not in its list %v: only members call", c.rank, ranks)
	}
	return nil
}

// creation is a call of Create. It goes on to its end whatever becomes of its caller, so that the next
// one begins where all are in step again.
type creation struct {
	comm    *Comm
	ranks   []int
	list    []byte    // what all have to be given
	leader  int       // the lowest of them: so it is the same in whatever order members list each other
	others  []int     // without it
	heard   []hearing // the leader's: the others' lists
	lists   [][]byte
	sent    pml.Request // the others': their list
	answer  pml.Request // and what is said of it
	answers []byte
	number  int
	birth   *birth
	silent  bool // the others': there was no answer
}

// A hearing is the receive of a list, or why there is none.
type hearing struct {
	request pml.Request
	err     error
}

type created struct {
	comm *Comm
	err  error
}

// mostReason is the longest text that tells why there is no communicator.
const mostReason = 600

// creation begins what all members have to do in the order of their calls.
func (c *Comm) creation(ranks []int) (*creation, error) {
	x := &creation{comm: c, ranks: ranks, leader: slices.Min(ranks), list: encodeInts(ranks...), birth: &birth{ranks: ranks}}
	x.others = slices.DeleteFunc(slices.Clone(ranks), func(r int) bool { return r == x.leader })
	if x.leads() {
		x.listen()
	} else if err := x.ask(); err != nil {
		return nil, fmt.Errorf("Create: %w", own(err))
	}
	c.expects(x.birth)
	return x, nil
}

func (x *creation) leads() bool { return x.leader == x.comm.rank }

// listen posts the receives of the others' lists. Who is known to have failed sends none, and the others are to hear so.
func (x *creation) listen() {
	for _, r := range x.others {
		list := make([]byte, 8+8*x.comm.Size())
		req, err := x.comm.coll.Irecv(list, nil, r, tagGroup)
		x.heard, x.lists = append(x.heard, hearing{req, err}), append(x.lists, list)
	}
}

// ask sends the list to the leader, who may be in another call yet: the number of this one tells
// the answers apart.
func (x *creation) ask() (err error) {
	c := x.comm
	x.number = int(c.creations.Add(1))
	x.answers = make([]byte, 8+max(4+mostReason, 8*len(x.ranks)))
	if x.answer, err = c.coll.Irecv(x.answers, nil, x.leader, tagAnswer+tagOf(int64(x.number))); err != nil {
		return err
	}
	if x.sent, err = c.coll.Isend(append(encodeInts(x.number), x.list...), nil, x.leader, tagGroup, pml.Standard); err != nil {
		pml.Leave(x.answer)
	}
	return err
}

// run makes the communicator, for a caller who may have gone.
func (x *creation) run(ctx context.Context, made chan<- created) {
	d, err := x.make()
	select {
	case made <- created{d, err}:
		return
	case <-ctx.Done():
	}
	if err == nil {
		d.turn.fail("Create", ctx.Err())
		d.tellLeft("Create", 1, ctx.Err())
		_ = d.Free() // it is not the world's own
	}
}

func (x *creation) make() (d *Comm, err error) {
	id, numbers, err := x.agree()
	if err != nil {
		x.comm.bearsNot(x.birth, x.silent, x.number)
		return nil, fmt.Errorf("Create: %w", own(err))
	}
	world := make([]int32, len(x.ranks))
	for i, r := range x.ranks {
		world[i] = int32(x.comm.group.World(r))
	}
	if d, err = x.comm.world.newComm(id, pml.NewGroup(world), x.comm.manner); err != nil {
		x.comm.bearsNot(x.birth, false, x.number)
		return nil, err
	}
	x.comm.bears(x.birth, d, numbers)
	return d, nil
}

// agree returns the id of the new communicator, and the numbers of all members' calls.
func (x *creation) agree() (id uint64, numbers []int, err error) {
	if x.leads() {
		return x.lead()
	}
	count, err := x.hear()
	if err != nil {
		x.silent = true
		return 0, nil, err
	}
	id, rest := binary.LittleEndian.Uint64(x.answers), x.answers[8:count]
	if id == 0 {
		return 0, nil, x.refused(rest)
	}
	return id, decodeInts(rest), nil
}

// hear waits for the answer of the leader.
func (x *creation) hear() (count int, err error) {
	ctx := context.Background()
	if _, err := x.sent.Wait(ctx); err != nil {
		pml.Leave(x.answer)
		return 0, err
	}
	st, err := x.answer.Wait(ctx)
	if err != nil {
		return 0, err
	}
	if count = st.Count; count < 8+4 || binary.LittleEndian.Uint64(x.answers) != 0 && count != 8+8*len(x.ranks) {
		return 0, x.comm.misfit("Create", x.leader, int64(count), int64(8+8*len(x.ranks)))
	}
	return count, nil
}

// lead compares the lists and answers all that have sent theirs.
func (x *creation) lead() (id uint64, numbers []int, err error) {
	for i := range x.heard {
		if e := x.compare(i); e != nil && err == nil {
			err = e
		}
	}
	numbers = x.numbers()
	var answer []byte
	if err == nil {
		id = x.comm.world.nextID()
		answer = append(binary.LittleEndian.AppendUint64(nil, id), encodeInts(numbers...)...)
	} else {
		answer = append(binary.LittleEndian.AppendUint64(nil, 0), refusal(err)...)
	}
	for i := range x.lists {
		x.tell(i, answer)
	}
	return id, numbers, err
}

// refusal says why there is no communicator: who has failed, if that is why, and in words.
func refusal(err error) []byte {
	failed := nobodyFailed
	if e, is := errors.AsType[*PeerFailedError](own(err)); is {
		failed = e.Rank
	}
	text := err.Error()
	return append(binary.LittleEndian.AppendUint32(nil, uint32(int32(failed))), text[:min(len(text), mostReason)]...)
}

// refused is the error for a refusal of the leader's.
func (x *creation) refused(b []byte) error {
	failed := int(int32(binary.LittleEndian.Uint32(b)))
	said := fmt.Errorf("rank %d, the lowest of the list, says: %s", x.leader, strings.ToValidUTF8(string(b[4:]), ""))
	if failed < 0 || failed >= x.comm.Size() {
		return said
	}
	return &PeerFailedError{Rank: failed, WorldRank: x.comm.group.World(failed), Cause: said}
}

// numbers are those of the calls of members that have sent their lists, by place; −1: it has not, or is the leader.
func (x *creation) numbers() []int {
	all, lists := make([]int, len(x.ranks)), x.lists
	for place, rank := range x.ranks {
		all[place] = -1
		if rank == x.leader {
			continue
		}
		if lists[0] != nil {
			all[place] = decodeInts(lists[0])[0]
		}
		lists = lists[1:]
	}
	return all
}

// tell answers a member that has sent its list.
func (x *creation) tell(i int, answer []byte) {
	if list := x.lists[i]; list != nil {
		// Who has failed by now is a member that has failed.
		_ = x.comm.coll.Send(context.Background(), answer, nil, x.others[i], tagAnswer+tagOf(int64(decodeInts(list)[0])), pml.Standard)
	}
}

// compare waits for a member's list, which stays nil if there is none, and compares it.
func (x *creation) compare(i int) error {
	list, h := x.lists[i], x.heard[i]
	x.lists[i] = nil
	if h.err != nil {
		return h.err
	}
	st, err := h.request.Wait(context.Background())
	if err != nil {
		return err
	}
	from := x.others[i]
	if st.Count < 8 {
		return x.comm.misfit("Create", from, int64(st.Count), int64(8+len(x.list)))
	}
	if number := decodeInts(list)[0]; number < 0 || int64(number) > math.MaxUint32 {
		return fmt.Errorf("rank %d gives its call the number %d, which none has", from, number)
	}
	x.lists[i] = list
	if theirs := list[8:st.Count]; !bytes.Equal(theirs, x.list) {
		return fmt.Errorf("ranks %d and %d list different ranks: %v and %v", x.leader, from, x.ranks, decodeInts(theirs))
	}
	return nil
}

func decodeInts(b []byte) (values []int) {
	for ; len(b) >= 8; b = b[8:] {
		values = append(values, int(int64(binary.LittleEndian.Uint64(b))))
	}
	return values
}
