package programs

import (
	"slices"

	"github.com/strandmp/strand"
)

// underway is a collective call that goes on by itself.
type underway struct {
	step    *step
	request strand.Request
	check   func() error
}

// collect makes a collective call.
func (r *rank) collect(s *step) error {
	c, call := r.comms[s.comm], s.call
	if grid := r.grids[s.comm]; grid != nil {
		call = call.Over(grid)
		r.tally.OverGrids++
	}
	if !call.Alone {
		r.tally.Blocking++
		return call.Make(r.ctx, c)
	}
	request, check, err := call.Begin(c)
	if err != nil {
		return err
	}
	r.tally.Alone++
	r.calls = append(r.calls, underway{s, request, check})
	return nil
}

// await waits for some of the collective calls that go on by themselves, the last ones: all of them go on meanwhile.
func (r *rank) await(some int) error {
	if some > 0 && r.random.IntN(3) == 0 {
		return r.awaitMixed(some)
	}
	for range some {
		last := len(r.calls) - 1
		_, err := r.wait(r.calls[last].request)
		if err := r.called(last, err); err != nil {
			return err
		}
	}
	return nil
}

// called takes the outcome of the i'th collective call that goes on by itself.
func (r *rank) called(i int, err error) error {
	if err != nil {
		return err
	}
	if err := r.calls[i].check(); err != nil {
		return err
	}
	r.ledger.beat()
	r.calls = slices.Delete(r.calls, i, i+1)
	return nil
}

// awaitMixed is await by calls over several requests, among which are such of messages.
func (r *rank) awaitMixed(some int) error {
	r.tally.Mixed++
	for goal := len(r.calls) - some; len(r.calls) > goal; {
		calls, messages := slices.Clone(r.calls[goal:]), r.some()
		var handles []strand.Request
		for _, u := range calls {
			handles = append(handles, u.request)
		}
		for _, q := range messages {
			handles = append(handles, q.handle)
		}
		outcomes, err := r.waitSome(handles)
		if err != nil {
			return err
		}
		for _, o := range slices.Backward(outcomes) { // so that the calls that are left stay where they are
			if o.Index < len(calls) {
				err = r.called(goal+o.Index, o.Err)
			} else {
				err = r.ended(messages[o.Index-len(calls)], o.Status, o.Err)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// waitSome waits until one of the requests has ended, or more.
func (r *rank) waitSome(handles []strand.Request) (outcomes []strand.Outcome, err error) {
	if !r.polls {
		return strand.WaitSome(r.ctx, handles, nil)
	}
	err = r.until(func() (bool, error) {
		outcomes, err = strand.TestSome(handles, nil)
		return len(outcomes) > 0, err
	})
	return outcomes, err
}

// awaitBeside has a goroutine of its own wait for all collective calls that go on by themselves, while the rank goes on. It returns
// what waits for that goroutine.
func (r *rank) awaitBeside() (join func() error) {
	calls := r.calls
	r.calls = nil
	over := make(chan error, 1)
	go func() {
		for _, u := range slices.Backward(calls) {
			_, err := r.wait(u.request)
			if err == nil {
				err = u.check()
			}
			if err != nil {
				over <- err
				return
			}
			r.ledger.beat()
		}
		over <- nil
	}()
	return func() error { return <-over }
}
