package pml

import (
	"context"
	"errors"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
)

// The functions over several requests replace those that they end by the zero
// Request, which they pass over the next time (MPI's null request).

// worldOf returns the message layer of the first request that has one.
func worldOf(reqs []Request) *PML {
	for _, r := range reqs {
		if r.op != nil {
			return r.op.pml
		}
	}
	return nil
}

// errWorlds is what a wait for requests of several worlds ends with: each world has a
// lock and a progress of its own.
var errWorlds = errors.New("requests of several worlds can not be waited for together")

// belongs reports an error for a request of another world, of which nothing may be
// looked at.
func (p *PML) belongs(i int, r Request) error {
	if r.op == nil || r.op.pml == p {
		return nil
	}
	return p.foreign(i, r)
}

func (p *PML) foreign(i int, r Request) error {
	return fmt.Errorf("%w: request %d is of the world of rank %d, others before it of another one, that of rank %d",
		errWorlds, i, r.op.pml.rank, p.rank)
}

// allBelong is belongs for all.
func (p *PML) allBelong(reqs []Request) error {
	for i, r := range reqs {
		if err := p.belongs(i, r); err != nil {
			return err
		}
	}
	return nil
}

// firstOver returns the place of the first request that is over, or −1. The lock is
// held.
func (p *PML) firstOver(reqs []Request) (int, error) {
	for i, r := range reqs {
		if err := p.belongs(i, r); err != nil {
			return -1, err
		}
		if r.op != nil && r.over() {
			return i, nil
		}
	}
	return -1, nil
}

// claimOne has one of the sends end that only need a copy for that, and returns its place, or −1.
func claimOne(reqs []Request) int {
	for i, r := range reqs {
		if r.op != nil && !r.over() && r.op.lends() && r.op.claim() {
			return i
		}
	}
	return -1
}

// claimAll has all of the sends end that only need a copy for that, and reports whether there was one.
func claimAll(reqs []Request) (claimed bool) {
	for _, r := range reqs {
		if r.op != nil && !r.over() && r.op.lends() && r.op.claim() {
			claimed = true
		}
	}
	return claimed
}

// take ends a request that is over and leaves none in its place.
func take(r *Request) (st Status, err error) {
	st, err = r.finish()
	*r = Request{}
	return st, err
}

// checkStatuses reports an error unless there are as many statuses as requests, or
// none.
func checkStatuses(reqs []Request, statuses []Status) error {
	if statuses != nil && len(statuses) != len(reqs) {
		return fmt.Errorf("wait for %d requests: there are %d statuses to fill; want none or %d",
			len(reqs), len(statuses), len(reqs))
	}
	return nil
}

// WaitAll waits for all requests, ends them and returns the outcomes of those that have
// failed, in their order. Statuses is nil, or has the length of reqs and gets the status of
// each. An error is about the call: if ctx ends first, for example, no request has ended.
func WaitAll(ctx context.Context, reqs []Request, statuses []Status) (failed []Outcome, err error) {
	return waitAll(ctx, reqs, statuses, (*engine.Engine).Wait)
}

// WaitAllBeside is WaitAll for a goroutine of the library's, beside the program's own ([engine.Engine.WaitBeside]).
func WaitAllBeside(ctx context.Context, reqs []Request, statuses []Status) (failed []Outcome, err error) {
	return waitAll(ctx, reqs, statuses, (*engine.Engine).WaitBeside)
}

func waitAll(ctx context.Context, reqs []Request, statuses []Status, await func(*engine.Engine, context.Context, engine.Condition, btl.Poller) error) (failed []Outcome, err error) {
	given.Context(ctx)
	if err := checkStatuses(reqs, statuses); err != nil {
		return nil, err
	}
	p := worldOf(reqs)
	if p == nil {
		return takeAll(reqs, statuses), nil
	}
	if err := p.allBelong(reqs); err != nil {
		return nil, err
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	s := (*allOver)(p.newWaitSet(reqs))
	if s.Done() {
		reqs[len(reqs)-1].op.lookOn()
	} else {
		wait := p.traceWait(len(reqs))
		p.awaited = s
		err := await(p.engine, ctx, s, reqs[s.over].op.source())
		p.awaited = nil
		p.traceWaited(wait, err)
		if err != nil {
			p.freeWaitSet((*waitSet)(s))
			return nil, err
		}
	}
	p.freeWaitSet((*waitSet)(s))
	return takeAll(reqs, statuses), nil
}

// takeAll ends requests that are all over, and returns the outcomes of those that have
// failed.
func takeAll(reqs []Request, statuses []Status) (failed []Outcome) {
	for i := range reqs {
		if statuses == nil && reqs[i].endQuietly() {
			continue
		}
		st, err := take(&reqs[i])
		if statuses != nil {
			statuses[i] = st
		}
		if err != nil {
			failed = append(failed, Outcome{i, st, err})
		}
	}
	return failed
}

// endQuietly is take of a request that has succeeded, for who does not want its status. Otherwise it does nothing, and reports false.
func (r *Request) endQuietly() bool {
	op := r.op
	if op == nil {
		return true
	}
	if p := op.pml; op != &p.instant {
		if op.gen != r.gen || !op.done || op.err != nil {
			return false
		}
		p.freeOperation(op)
	}
	*r = Request{}
	return true
}

// WaitAny waits until one of the requests is complete, ends it and returns its
// place and outcome. Without any request it returns −1.
func WaitAny(ctx context.Context, reqs []Request) (int, Status, error) {
	given.Context(ctx)
	p := worldOf(reqs)
	if p == nil {
		return -1, noStatus, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	i, err := p.waitForOne(ctx, reqs)
	if err != nil {
		return -1, Status{}, err
	}
	st, err := take(&reqs[i])
	return i, st, err
}

// waitForOne waits until one of the requests is over and returns its place.
func (p *PML) waitForOne(ctx context.Context, reqs []Request) (int, error) {
	i, err := p.firstOver(reqs)
	if i >= 0 || err != nil {
		return i, err
	}
	if i := claimOne(reqs); i >= 0 {
		return i, nil
	}
	return p.awaitOne(ctx, reqs)
}

// manyRequests is from how many requests on it takes longer to have all of them watched than to poll once.
const manyRequests = 32

// awaitOne is waitForOne if none is over yet. What is there already ends the wait before they are watched, if they are many: so who takes what
// comes in a stream goes through them as often as who tests.
func (p *PML) awaitOne(ctx context.Context, reqs []Request) (int, error) {
	if len(reqs) >= manyRequests {
		p.engine.Glance(p.sourceOf(reqs))
		if i, err := p.firstOver(reqs); i >= 0 || err != nil {
			return i, err
		}
	}
	s := p.newWaitSet(reqs)
	var source btl.Poller
	for _, r := range reqs {
		if r.op == nil {
			continue
		}
		s.watch(r)
		r.op.block()
		if source == nil {
			source = r.op.source()
		}
	}
	wait := p.traceWait(len(reqs))
	err := p.engine.Wait(ctx, (*oneOver)(s), source)
	p.traceWaited(wait, err)
	for _, r := range reqs {
		s.unwatch(r)
		if r.op != nil && r.op.gen == r.gen {
			r.op.unblock()
		}
	}
	p.freeWaitSet(s)
	if err != nil {
		return -1, err
	}
	return p.firstOver(reqs)
}

// An Outcome is how one of several requests ended.
type Outcome struct {
	Index  int
	Status Status
	Err    error
}

// WaitSome waits until at least one of the requests is complete, ends all that
// are, and appends their outcomes to out.
func WaitSome(ctx context.Context, reqs []Request, out []Outcome) ([]Outcome, error) {
	given.Context(ctx)
	p := worldOf(reqs)
	if p == nil {
		return out, nil
	}
	if err := p.allBelong(reqs); err != nil {
		return out, err
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	if i, _ := p.firstOver(reqs); i < 0 && !claimAll(reqs) { // all belong to this world
		if _, err := p.awaitOne(ctx, reqs); err != nil {
			return out, err
		}
	}
	return collect(reqs, out), nil
}

func collect(reqs []Request, out []Outcome) []Outcome {
	for i := range reqs {
		if reqs[i].op != nil && reqs[i].over() {
			st, err := take(&reqs[i])
			out = append(out, Outcome{i, st, err})
		}
	}
	return out
}

// TestSome is WaitSome without waiting: it makes progress once.
func TestSome(reqs []Request, out []Outcome) ([]Outcome, error) {
	p := worldOf(reqs)
	if p == nil {
		return out, nil
	}
	if err := p.allBelong(reqs); err != nil {
		return out, err
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	p.engine.Poll(p.sourceOf(reqs))
	if i, err := p.firstOver(reqs); i < 0 && err == nil {
		claimAll(reqs)
	}
	return collect(reqs, out), nil
}

// sourceOf returns where the end of the first request that is not over is expected
// from.
func (p *PML) sourceOf(reqs []Request) btl.Poller {
	for _, r := range reqs {
		if r.op != nil && r.op.pml == p && !r.over() {
			return r.op.source()
		}
	}
	return p.recent
}

// TestAny is WaitAny without waiting: the place is −1 and done false if no
// request is complete.
func TestAny(reqs []Request) (index int, st Status, done bool, err error) {
	p := worldOf(reqs)
	if p == nil {
		return -1, noStatus, true, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	p.engine.Poll(p.sourceOf(reqs))
	i, err := p.firstOver(reqs)
	if i < 0 && err == nil {
		i = claimOne(reqs)
	}
	if i < 0 || err != nil {
		return -1, Status{}, false, err
	}
	st, err = take(&reqs[i])
	return i, st, true, err
}

// TestAll is WaitAll without waiting: if not all requests are complete it ends
// none and done is false.
func TestAll(reqs []Request, statuses []Status) (failed []Outcome, done bool, err error) {
	if err := checkStatuses(reqs, statuses); err != nil {
		return nil, false, err
	}
	p := worldOf(reqs)
	if p == nil {
		return takeAll(reqs, statuses), true, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	p.engine.Poll(p.sourceOf(reqs))
	for i, r := range reqs {
		if err := p.belongs(i, r); err != nil {
			return nil, false, err
		}
		if r.op != nil && !r.over() && !r.op.lends() {
			return nil, false, nil
		}
	}
	claimAll(reqs)
	return takeAll(reqs, statuses), true, nil
}
