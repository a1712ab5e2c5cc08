package strand

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/strandmp/strand/internal/given"
	"github.com/strandmp/strand/internal/whowaits"
)

// turn makes a communicator's collective calls one after the other: each of them needs the same
// call of all other processes. After a call that was given up others may still be in it, so no
// further one is made.
type turn struct {
	mu     sync.Mutex
	in     string // the call that a goroutine is in
	calls  int64  // until now: the number of the last one
	broken error  // why no further call is made
}

// collectively makes a collective call in its turn. A context that has ended before does no
// harm to later calls: no other process has heard of this one yet.
func (c *Comm) collectively(ctx context.Context, what call, make func(number int64) error) error {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	number, err := c.turn.begin(what.name)
	if err != nil {
		c.refused(what.name, number, err)
		return err
	}
	begun := c.traceCall(what.name, number)
	returned := false
	defer func() {
		if !returned {
			c.traceCalled(begun, errUnwound)
			c.turn.fail(what.name, errUnwound)
			c.turn.end()
			c.tellLeft(what.name, number, errUnwound)
		}
	}()
	if c.world.checks {
		err = c.compare(ctx, tagOf(number), what)
	}
	if err == nil {
		err = make(number)
	}
	returned = true
	c.traceCalled(begun, err)
	if err == nil {
		c.turn.end()
		return nil
	}
	if err = c.explained(what.name, own(err)); errors.Is(err, ErrUnderway) {
		err = ctx.Err() // what is under way is the call's own: no buffer of the caller's
	}
	c.turn.fail(what.name, err)
	c.turn.end()
	c.tellLeft(what.name, number, err)
	return err
}

// errUnwound is why a call was left that did not return. Others wait for this process, and the program may live on.
var errUnwound = errors.New("what it does there for the program, an operation for example, has panicked, or has ended the goroutine")

// refused is called for a call that was not begun. If that is because another one was left, this process makes neither this call nor
// later ones.
func (c *Comm) refused(name string, number int64, err error) {
	if number > 0 {
		c.tellLeft(name, number, err)
	}
}

// Tags in the context of collective calls, each for messages of one kind. So none is taken for another.
const (
	callTags = whowaits.CallTags // calls have those below, in turn

	tagGroup   = callTags       // of Create, from a member to the leader: the number of its call, and the list
	tagAnswer  = 2 * callTags   // and back, plus tagOf of that number: the context's id and the numbers of all, or why there is none
	tagPlaces  = 3 * callTags   // where processes are
	tagCommons = 3*callTags + 1 // the memory that they have in common
	tagAwake   = 3*callTags + 2 // a rank has done there what another one waits for
)

// tagOf is the tag of the messages of a call. One comes again when the calls before are long over. All processes make the
// same calls in the same order; so calls in another order meet, and are told apart by lengths that do not fit.
func tagOf(number int64) int { return int(uint64(number) % callTags) }

// begin begins a call that others wait for on this process, and returns its number; 0 if another goroutine is in one.
func (t *turn) begin(name string) (number int64, err error) {
	t.mu.Lock()
	if t.in != "" {
		err = t.free(name)
		t.mu.Unlock()
		return 0, err
	}
	t.calls++
	number, err = t.calls, t.broken
	if err == nil {
		t.in = name
	}
	t.mu.Unlock()
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return number, err
}

// free reports the call that is in the way of another one.
func (t *turn) free(name string) error {
	if t.in != "" {
		return fmt.Errorf("%s: %w: another goroutine is in %s", name, ErrConcurrent, t.in)
	}
	return nil
}

// enter begins an agreement, which a communicator takes after a call that was given up too.
func (t *turn) enter(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err := t.free(name); err != nil {
		return err
	}
	t.in = name
	return nil
}

func outOfStep(name string, err error) error {
	return fmt.Errorf("%w: %s has ended early on this rank (%w); messages go on, and Shrink makes a communicator that takes them. "+
		"A call that may be given up needs a communicator of its own (Dup)", ErrOutOfStep, name, err)
}

// end ends a call.
func (t *turn) end() {
	t.mu.Lock()
	t.in = ""
	t.mu.Unlock()
}

// fail takes note of a call that has ended early on this process, unless one had before.
func (t *turn) fail(name string, err error) {
	if err != nil {
		t.breaks(outOfStep(name, err))
	}
}

// breaks takes note of a process that has left a call early, unless one has done so before.
func (t *turn) breaks(err error) (first bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken != nil {
		return false
	}
	t.broken = err
	return true
}

// start begins a call that goes on by itself, and returns its number.
func (t *turn) start(name string) (number int64, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	if t.broken != nil {
		return t.calls, fmt.Errorf("%s: %w", name, t.broken)
	}
	return t.calls, nil
}

// next is the number of the first call that this process has not begun.
func (t *turn) next() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.calls + 1
}

// standing is the call that a goroutine is in, and the number of the last one.
func (t *turn) standing() (in string, number int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.in, t.calls
}
