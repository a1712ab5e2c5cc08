package programs

import (
	"context"
	"errors"
	"runtime"
	"time"

	"github.com/strandmp/strand"
)

// A rank either waits, or polls: it then makes no call that blocks but collective ones.

// pause lets time go by.
func pause(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// until calls a test until it is true, or fails. Ranks that test without end take the
// processor from those that they wait for, and so others may run in between.
func (r *rank) until(test func() (bool, error)) error {
	for i := 0; ; i++ { // now and then it leaves its processor, which others may need more
		done, err := test()
		if done || err != nil {
			return err
		}
		if err := r.ctx.Err(); err != nil {
			return err
		}
		if runtime.Gosched(); i%64 == 63 {
			pause(r.ctx, 50*time.Microsecond)
		}
	}
}

// wait returns a request's outcome, once it has one. Its own error is not told from that
// of waiting, but the latter ends the session.
func (r *rank) wait(handle strand.Request) (st strand.Status, err error) {
	if !r.polls {
		return handle.Wait(r.ctx)
	}
	return r.poll(handle)
}

// poll is wait for who polls.
func (r *rank) poll(handle strand.Request) (st strand.Status, err error) {
	over := r.until(func() (done bool, _ error) {
		st, done, err = handle.Test()
		return done, nil
	})
	return st, errors.Join(err, over)
}

// probeNow waits for a message.
func (r *rank) probeNow(c *strand.Comm, source, tag int) (st strand.Status, err error) {
	if !r.polls {
		return c.Probe(r.ctx, source, tag)
	}
	err = r.until(func() (found bool, err error) {
		st, found, err = c.Iprobe(source, tag)
		return found, err
	})
	return st, err
}

// takeNow waits for a message and takes it.
func (r *rank) takeNow(c *strand.Comm, source, tag int) (m *strand.Message, err error) {
	if !r.polls {
		return c.Mprobe(r.ctx, source, tag)
	}
	err = r.until(func() (found bool, err error) {
		m, found, err = c.Improbe(source, tag)
		return found, err
	})
	return m, err
}
