package programs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/strandmp/strand"
)

func (r *rank) forget(q *request) {
	i := slices.Index(r.requests, q)
	r.requests = slices.Delete(r.requests, i, i+1)
}

// ended takes the outcome of a request.
func (r *rank) ended(q *request, st strand.Status, err error) error {
	r.forget(q)
	if q.message == nil {
		return r.received(q.reception, q.buffer, st, err)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", q.message, err)
	}
	return r.returned(q.message, q.buffer)
}

// some draws some of the requests, in any order.
func (r *rank) some() []*request {
	all := r.shuffled(r.requests)
	return all[:r.random.IntN(len(all)+1)]
}

func (r *rank) shuffled(requests []*request) []*request {
	all := slices.Clone(requests)
	r.random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all
}

func handles(requests []*request) []strand.Request {
	all := make([]strand.Request, len(requests))
	for i, q := range requests {
		all[i] = q.handle
	}
	return all
}

// test asks whether requests are complete, in one of the ways there are.
func (r *rank) test() error {
	some := r.some()
	if len(some) == 0 {
		return nil
	}
	switch r.random.IntN(6) {
	case 0:
		return r.testAny(some)
	case 1:
		return r.outcomes(some, strand.TestSome(handles(some), nil))
	case 2:
		return r.testAll(some[:min(3, len(some))])
	case 3:
		return r.waitBriefly(some[0])
	default:
		q := some[0]
		if st, done, err := q.handle.Test(); done {
			return r.ended(q, st, err)
		}
	}
	return nil
}

// waitBriefly waits with a context that has ended, or will soon.
func (r *rank) waitBriefly(q *request) error {
	ctx, cancel := context.WithTimeout(r.ctx, time.Duration(r.random.IntN(3))*20*time.Microsecond)
	defer cancel()
	st, err := q.handle.Wait(ctx)
	if errors.Is(err, context.DeadlineExceeded) && r.ctx.Err() == nil {
		return nil // it may be waited for again
	}
	return r.ended(q, st, err)
}

func (r *rank) testAny(some []*request) error {
	i, st, done, err := strand.TestAny(handles(some))
	if !done {
		return nil
	}
	return r.ended(some[i], st, err)
}

func (r *rank) outcomes(some []*request, outcomes []strand.Outcome) error {
	for _, o := range outcomes {
		if err := r.ended(some[o.Index], o.Status, o.Err); err != nil {
			return err
		}
	}
	return nil
}

// testAll may end several requests with one error: those with too little room
// are left out.
func (r *rank) testAll(some []*request) error {
	some = r.unambiguous(some)
	statuses := make([]strand.Status, len(some))
	done, err := strand.TestAll(handles(some), statuses)
	if !done {
		return nil
	}
	return r.allEnded(some, statuses, err)
}

// unambiguous returns the requests of which at most the last can be truncated, so
// that the one error of a call for all of them is known to be its.
func (r *rank) unambiguous(some []*request) []*request {
	var safe, risky []*request
	for _, q := range some {
		if q.message != nil || q.reception.room >= r.longest(q.reception.comm) {
			safe = append(safe, q)
		} else {
			risky = append(risky, q)
		}
	}
	if len(risky) > 0 {
		safe = append(safe, risky[0])
	}
	return safe
}

// longest is the length of the longest message to this rank over a communicator.
func (r *rank) longest(comm int) int {
	n := 0
	for _, m := range r.history.messages(comm) {
		n = max(n, m.size)
	}
	return n
}

func (r *rank) allEnded(some []*request, statuses []strand.Status, err error) error {
	for i, q := range some {
		own := err
		if i < len(some)-1 {
			own = nil
		}
		if err := r.ended(q, statuses[i], own); err != nil {
			return err
		}
	}
	return nil
}

// waitAny waits until one of the requests is complete, or more.
func (r *rank) waitAny(some []*request) error {
	some = r.shuffled(some)
	if r.random.IntN(2) == 0 {
		outcomes, err := strand.WaitSome(r.ctx, handles(some), nil)
		if err != nil {
			return err
		}
		return r.outcomes(some, outcomes)
	}
	i, st, err := strand.WaitAny(r.ctx, handles(some))
	if i < 0 {
		return fmt.Errorf("waiting for one of %d requests: %w", len(some), err)
	}
	return r.ended(some[i], st, err)
}

// waitAll waits for requests that will all complete.
func (r *rank) waitAll(some []*request) error {
	some = r.shuffled(some)
	switch r.random.IntN(4) {
	case 0:
		for len(some) > 0 {
			part := r.unambiguous(some)
			statuses := make([]strand.Status, len(part))
			err := strand.WaitAll(r.ctx, handles(part), statuses)
			if r.ctx.Err() != nil {
				return err
			}
			if err := r.allEnded(part, statuses, err); err != nil {
				return err
			}
			some = slices.DeleteFunc(some, func(q *request) bool { return slices.Contains(part, q) })
		}
	case 1:
		for _, q := range some {
			st, err := q.handle.Wait(r.ctx)
			if err := r.ended(q, st, err); err != nil {
				return err
			}
		}
	case 2:
		return r.testUntilDone(some)
	default:
		for len(some) > 0 {
			if err := r.waitAny(some); err != nil {
				return err
			}
			some = slices.DeleteFunc(some, func(q *request) bool { return !slices.Contains(r.requests, q) })
		}
	}
	return nil
}

// maxTests bounds how often an operation is tested before it is waited for: ranks
// that test for long take the processor from those that they wait for.
const maxTests = 500

// testUntilDone tests each of the requests, over and over, and waits for it if
// that takes too long.
func (r *rank) testUntilDone(some []*request) error {
	for _, q := range some {
		st, done, err := q.handle.Test()
		for range r.random.IntN(maxTests) {
			if done {
				break
			}
			runtime.Gosched()
			st, done, err = q.handle.Test()
		}
		if !done {
			st, err = q.handle.Wait(r.ctx)
		}
		if err := r.ended(q, st, err); err != nil {
			return err
		}
	}
	return nil
}
