package strand

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/strandmp/strand/internal/given"
)

// turn holds a communicator's collective calls apart: each needs the same one of all other
// processes, so one comes after the other, and after one that was given up none can come.
type turn struct {
	mu     sync.Mutex
	in     string // the call that a goroutine is in
	broken error  // why there will be no other
}

// collectively makes a collective call in its turn. A context that has ended before is no
// harm: the others have heard nothing yet.
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

func (t *turn) end(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.broken = fmt.Errorf("%w: %s has ended early on this rank (%w), and others may still be in it; "+
			"messages go on. A call that may be given up needs a communicator of its own (Dup)", ErrOutOfStep, t.in, err)
	}
	t.in = ""
}
