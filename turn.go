package strand

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/strandmp/strand/internal/given"
)

// turn makes a communicator's collective calls one after the other: each of them needs the same
// call of all other processes. After a call that was given up others may still be in it, so no
// further one is made.
type turn struct {
	mu     sync.Mutex
	in     string // the call that a goroutine is in
	calls  int    // that have messages with a tag of their own
	broken error  // why no further call is made
}

// collectively makes a collective call in its turn. A context that has ended before does no
// harm to later calls: no other process has heard of this one yet.
func (c *Comm) collectively(ctx context.Context, name string, call func() error) error {
	given.Context(ctx)
	if err := c.usable(); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := c.turn.begin(name); err != nil {
		return err
	}
	err := own(call())
	if errors.Is(err, ErrUnderway) {
		err = ctx.Err() // what is under way is the call's own: no buffer of the caller's
	}
	c.turn.end(err)
	return err
}

func (t *turn) begin(name string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in != "" {
		return fmt.Errorf("%s: %w: another goroutine is in %s", name, ErrConcurrent, t.in)
	}
	if t.broken != nil {
		return fmt.Errorf("%s: %w", name, t.broken)
	}
	t.in = name
	return nil
}

func outOfStep(name string, err error) error {
	return fmt.Errorf("%w: %s has ended early on this rank (%w), and others may still be in it; "+
		"messages go on. A call that may be given up needs a communicator of its own (Dup)", ErrOutOfStep, name, err)
}

func (t *turn) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.broken = outOfStep(t.in, err)
	}
	t.in = ""
}

// tag returns that of the messages of the next call. It is the same in all processes, as they make
// the same calls in the same order. One comes again when the calls before are long over.
func (t *turn) tag() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.calls++
	return tagCall + t.calls%(1<<20)
}

// start returns the tag of a call that goes on by itself.
func (t *turn) start(name string) (tag int, err error) {
	t.mu.Lock()
	broken := t.broken
	t.mu.Unlock()
	if broken != nil {
		return 0, fmt.Errorf("%s: %w", name, broken)
	}
	return t.tag(), nil
}

// fail notes that a call that went on by itself has ended early.
func (t *turn) fail(name string, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.broken == nil {
		t.broken = outOfStep(name, err)
	}
}
