package programs

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
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
	r.ledger.beat()
	if q.message == nil {
		return r.received(q.reception, q.buffer, st, err)
	}
	if err != nil {
		return fmt.Errorf("%v: %w", q.message, err)
	}
	if q.mode == modeSynchronous {
		r.ledger.synced[q.message.id].Store(r.ledger.clock.Add(1))
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

// test asks whether requests are complete, in one of the ways there are.
func (r *rank) test() error {
	some := r.some()
	if len(some) == 0 {
		return r.nothing()
	}
	switch r.random.IntN(6) {
	case 0:
		_, err := r.testAny(some)
		return err
	case 1:
		_, err := r.testSome(some)
		return err
	case 2:
		_, err := r.testAll(some[:min(3, len(some))])
		return err
	case 3:
		return r.waitBriefly(some)
	default:
		q := some[0]
		if st, done, err := q.handle.Test(); done {
			return r.ended(q, st, err)
		}
	}
	return nil
}

// waitBriefly waits, in one of the ways there are, with a context that has ended, or will soon. What has not ended then may
// be waited for again.
func (r *rank) waitBriefly(some []*request) error {
	ctx, cancel := context.WithTimeout(r.ctx, time.Duration(r.random.IntN(3))*20*time.Microsecond)
	defer cancel()
	l := r.listOf(some)
	var err error
	switch r.random.IntN(5) {
	case 0:
		err = r.waitAnyOf(ctx, l)
	case 1:
		err = r.waitSomeOf(ctx, l)
	case 2:
		err = r.waitAllOf(ctx, r.listOf(some[:min(3, len(some))]))
	default:
		var st strand.Status
		if st, err = some[0].handle.Wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			return r.ended(some[0], st, err)
		}
	}
	if errors.Is(err, context.DeadlineExceeded) && r.ctx.Err() == nil {
		return nil
	}
	return err
}

func (r *rank) testAny(some []*request) (bool, error) {
	l := r.listOf(some)
	i, st, done, err := strand.TestAny(l.handles)
	if !done {
		return false, nil
	}
	q, wrong := l.at(i)
	if wrong != nil {
		return false, fmt.Errorf("TestAny: %w", wrong)
	}
	return true, r.ended(q, st, err)
}

func (r *rank) testSome(some []*request) (bool, error) {
	l := r.listOf(some)
	outcomes, err := strand.TestSome(l.handles, nil)
	if err != nil {
		return false, err
	}
	return len(outcomes) > 0, r.outcomes(l, outcomes)
}

func (r *rank) outcomes(l *list, outcomes []strand.Outcome) error {
	for _, o := range outcomes {
		q, err := l.at(o.Index)
		if err != nil {
			return err
		}
		if err := r.ended(q, o.Status, o.Err); err != nil {
			return err
		}
	}
	return nil
}

func (r *rank) testAll(some []*request) (bool, error) {
	l := r.listOf(some)
	statuses := l.statuses()
	done, err := strand.TestAll(l.handles, statuses)
	if !done {
		return false, nil
	}
	return true, r.allEnded(l, statuses, err)
}

// longest is the length of the longest message to this rank over a communicator.
func (r *rank) longest(comm int) int {
	n := 0
	for _, m := range r.history.messages(comm) {
		n = max(n, m.size)
	}
	return n
}

// allEnded takes the outcomes of requests that one call has ended, and whose error is err.
func (r *rank) allEnded(l *list, statuses []strand.Status, err error) error {
	errs, err := l.failures(err)
	if err != nil {
		return err
	}
	for i, q := range l.whose {
		if statuses[i] == poison {
			return fmt.Errorf("a call over %d requests, all of which have ended, has left a status as it was", len(l.whose))
		}
		if q == nil {
			continue
		}
		if err := r.ended(q, statuses[i], errs[i]); err != nil {
			return err
		}
	}
	return nil
}

// waitAny waits until one of the requests is complete, or more.
func (r *rank) waitAny(some []*request) error {
	some = r.shuffled(some)
	one := r.random.IntN(2) == 0
	switch {
	case r.polls && one:
		return r.until(func() (bool, error) { return r.testAny(some) })
	case r.polls:
		return r.until(func() (bool, error) { return r.testSome(some) })
	}
	if one {
		return r.waitAnyOf(r.ctx, r.listOf(some))
	}
	return r.waitSomeOf(r.ctx, r.listOf(some))
}

func (r *rank) waitAnyOf(ctx context.Context, l *list) error {
	i, st, err := strand.WaitAny(ctx, l.handles)
	if err != nil && i < 0 {
		return fmt.Errorf("waiting for one of %d requests: %w", len(l.requests()), err)
	}
	q, wrong := l.at(i)
	if wrong != nil {
		return fmt.Errorf("WaitAny: %w", wrong)
	}
	return r.ended(q, st, err)
}

func (r *rank) waitSomeOf(ctx context.Context, l *list) error {
	outcomes, err := strand.WaitSome(ctx, l.handles, nil)
	if err == nil && len(outcomes) == 0 {
		err = fmt.Errorf("WaitSome says that none of %d requests that were started has ended, and has not waited", len(l.requests()))
	}
	if err != nil {
		return err
	}
	return r.outcomes(l, outcomes)
}

func (r *rank) waitAllOf(ctx context.Context, l *list) error {
	statuses := l.statuses()
	return r.allEnded(l, statuses, strand.WaitAll(ctx, l.handles, statuses))
}

// waitAll waits for requests that will all complete.
func (r *rank) waitAll(some []*request) error {
	some = r.shuffled(some)
	switch r.random.IntN(5) {
	case 0:
		return r.waitTogether(some)
	case 4:
		return r.waitBeside(some)
	case 1:
		for _, q := range some {
			st, err := r.wait(q.handle)
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

func (r *rank) waitTogether(part []*request) error {
	if r.polls {
		return r.until(func() (bool, error) { return r.testAll(part) })
	}
	return r.waitAllOf(r.ctx, r.listOf(part))
}

// waitBeside has a goroutine of its own wait for each of the requests, or test it over and over.
func (r *rank) waitBeside(some []*request) error {
	r.tally.Beside++
	outcomes := make([]strand.Outcome, len(some))
	var wg sync.WaitGroup
	for i, q := range some {
		wait := r.wait
		if r.random.IntN(4) == 0 {
			wait = r.poll
		}
		wg.Go(func() { outcomes[i].Status, outcomes[i].Err = wait(q.handle) })
	}
	wg.Wait()
	for i, q := range some {
		if err := r.ended(q, outcomes[i].Status, outcomes[i].Err); err != nil {
			return err
		}
	}
	return nil
}

// maxTests bounds how often an operation is tested before it is waited for, by a rank that
// waits.
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
			st, err = r.wait(q.handle)
		}
		if err := r.ended(q, st, err); err != nil {
			return err
		}
	}
	return nil
}
