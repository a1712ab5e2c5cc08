package pml

import (
	"context"
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
)

// A Request stands for an operation under way. It is a small value; copies stand
// for the same operation. The zero Request is complete.
//
// A request must be waited for, or tested until it is done; that ends it. A
// second wait for it returns [ErrFinished].
type Request struct {
	op  *operation
	gen uint32
}

func requestOf(op *operation) Request {
	if op == nil {
		return Request{}
	}
	return Request{op, op.gen}
}

// over reports whether the operation is done or its request has ended.
func (r Request) over() bool { return r.op.gen != r.gen || r.op.done }

// waitSet is a condition over some requests. Sets are kept for reuse.
type waitSet struct {
	pml    *PML
	reqs   []Request
	need   int // how many must be over
	over   int // known to be over, from the front if all are needed
	waiter *engine.Waiter
	next   *waitSet
	single [1]Request
}

// Done implements [engine.Condition].
func (s *waitSet) Done() bool {
	if s.need == len(s.reqs) {
		for s.over < len(s.reqs) && (s.reqs[s.over].op == nil || s.reqs[s.over].over()) {
			s.over++
		}
		return s.over == s.need
	}
	for _, r := range s.reqs {
		if r.op != nil && r.over() {
			return true
		}
	}
	return false
}

// Park implements [engine.Condition].
func (s *waitSet) Park(w *engine.Waiter) {
	for _, r := range s.reqs[s.over:] {
		if r.op == nil || r.op.gen != r.gen {
			continue
		}
		if w != nil {
			r.op.waiters = append(r.op.waiters, w)
		} else {
			r.op.removeWaiter(s.waiter)
		}
	}
	s.waiter = w
}

func (p *PML) newWaitSet() *waitSet {
	s := p.waitSets
	if s == nil {
		return &waitSet{pml: p}
	}
	p.waitSets, s.next = s.next, nil
	return s
}

func (p *PML) freeWaitSet(s *waitSet) {
	s.single[0] = Request{}
	s.reqs, s.over, s.need = nil, 0, 0
	s.next, p.waitSets = p.waitSets, s
}

// lone is an operation whose request nobody else has, as a condition: that of a
// blocking call.
type lone operation

// Done implements [engine.Condition].
func (op *lone) Done() bool { return op.done }

// Park implements [engine.Condition].
func (op *lone) Park(w *engine.Waiter) {
	op.waiters = op.waiters[:0]
	if w != nil {
		op.waiters = append(op.waiters, w)
	}
}

// awaitAlone waits for the operation of a blocking call, and ends it or, if the
// context ends first, leaves it.
func (p *PML) awaitAlone(ctx context.Context, op *operation) (Status, error) {
	if !op.done {
		if err := p.engine.Wait(ctx, (*lone)(op), op.source()); err != nil {
			p.leave(op)
			return Status{}, err
		}
	}
	st, err := op.status, op.err
	p.freeOperation(op)
	return st, err
}

// await waits for one operation and ends its request. The lock is held. If the
// context ends first the operation goes on.
func (p *PML) await(ctx context.Context, op *operation) (Status, error) {
	r := requestOf(op)
	if !op.done {
		s := p.newWaitSet()
		s.single[0] = r
		s.reqs, s.need = s.single[:], 1
		err := p.engine.Wait(ctx, s, op.source())
		p.freeWaitSet(s)
		if err != nil {
			return Status{}, err
		}
	}
	return r.finish() // somebody else may have waited for it too
}

// leave ends a blocking call whose context has ended. A receive ends with it: its
// buffer is the caller's, and what still arrives is lost. A send goes on by
// itself.
func (p *PML) leave(op *operation) {
	switch {
	case op.isSend && !op.done:
		op.orphan = true
		return
	case op.isSend || op.done:
	case op.recv.Posted():
		op.context.match.Cancel(&op.recv)
		p.wakeProbers() // it may have held a message
	default:
		op.setBusy(false)
		op.peer.revoke(func(o *operation) bool { return o == op })
	}
	p.freeOperation(op)
}

// Leave ends a request without waiting for it, as a blocking call does whose
// context has ended.
func Leave(r Request) {
	if r.op == nil {
		return
	}
	p := r.op.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if r.op.gen == r.gen {
		p.leave(r.op)
	}
}

// Wait blocks until the operation is complete and returns its outcome, which
// ends the request. If ctx ends first Wait returns its error; the operation goes
// on, its buffer stays the library's, and the request may be waited for again.
func (r Request) Wait(ctx context.Context) (Status, error) {
	if r.op == nil {
		return Status{}, nil
	}
	p := r.op.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if r.op.gen != r.gen {
		return Status{}, ErrFinished
	}
	return p.await(ctx, r.op)
}

// Test reports whether the operation is complete and, if so, its outcome, which
// ends the request. It makes progress but does not wait.
func (r Request) Test() (Status, bool, error) {
	if r.op == nil {
		return Status{}, true, nil
	}
	p := r.op.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if r.op.gen != r.gen {
		return Status{}, true, ErrFinished
	}
	if !r.op.done {
		p.engine.Poll(r.op.source())
	}
	if !r.over() {
		return Status{}, false, nil
	}
	st, err := r.finish()
	return st, true, err
}

// finish takes the outcome of an operation that is over.
func (r Request) finish() (Status, error) {
	if r.op == nil {
		return Status{}, nil
	}
	if r.op.gen != r.gen {
		return Status{}, ErrFinished
	}
	st, err := r.op.status, r.op.err
	r.op.pml.freeOperation(r.op)
	return st, err
}

// Cancel takes back a receive that has not matched and reports whether it could:
// the buffer is then the caller's, and the request complete. It is waited for or
// tested as any other; its status says that it was cancelled, and there is no error
// (MPI 4.1, section 3.8.4). Sends can not be cancelled: MPI deprecates it.
func (r Request) Cancel() bool {
	if r.op == nil {
		return false
	}
	p := r.op.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if r.op.gen != r.gen || r.op.isSend || r.op.done || !r.op.context.match.Cancel(&r.op.recv) {
		return false
	}
	r.op.status = Status{Source: AnySource, Tag: AnyTag, Cancelled: true}
	r.op.complete(nil)
	p.wakeProbers() // it may have held a message
	return true
}

// The functions over several requests replace those that they end by the zero
// Request, which they pass over the next time (MPI's null request).

// WaitAll waits for all requests and returns the status of each in statuses, which
// is nil or has their length. The result is the first error. If ctx ends first
// nothing is ended.
func WaitAll(ctx context.Context, reqs []Request, statuses []Status) error {
	if statuses != nil && len(statuses) != len(reqs) {
		return fmt.Errorf("wait for %d requests: there are %d statuses to fill; want none or %d",
			len(reqs), len(statuses), len(reqs))
	}
	p, source := first(reqs)
	if p == nil {
		clear(statuses)
		return nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	s := p.newWaitSet()
	s.reqs, s.need = reqs, len(reqs)
	err := p.engine.Wait(ctx, s, source)
	p.freeWaitSet(s)
	if err != nil {
		return err
	}
	for i, r := range reqs {
		st, e := r.finish()
		reqs[i] = Request{}
		if statuses != nil {
			statuses[i] = st
		}
		if err == nil {
			err = e
		}
	}
	return err
}

// first returns the message layer of the first request that has one, and where
// its end is expected from.
func first(reqs []Request) (*PML, btl.Poller) {
	for _, r := range reqs {
		if r.op != nil {
			p := r.op.pml
			p.engine.Lock()
			defer p.engine.Unlock()
			return p, r.op.source()
		}
	}
	return nil, nil
}

// WaitAny waits until one of the requests is complete, ends it and returns its
// place and outcome. Without any request under way it returns −1.
func WaitAny(ctx context.Context, reqs []Request) (int, Status, error) {
	p, source := first(reqs)
	if p == nil {
		return -1, Status{}, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	if err := p.waitForOne(ctx, reqs, source); err != nil {
		return -1, Status{}, err
	}
	for i, r := range reqs {
		if r.op != nil && r.over() {
			st, err := r.finish()
			reqs[i] = Request{}
			return i, st, err
		}
	}
	return -1, Status{}, nil
}

func (p *PML) waitForOne(ctx context.Context, reqs []Request, source btl.Poller) error {
	s := p.newWaitSet()
	s.reqs, s.need = reqs, 1
	err := p.engine.Wait(ctx, s, source)
	p.freeWaitSet(s)
	return err
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
	p, source := first(reqs)
	if p == nil {
		return out, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	if err := p.waitForOne(ctx, reqs, source); err != nil {
		return out, err
	}
	return collect(reqs, out), nil
}

func collect(reqs []Request, out []Outcome) []Outcome {
	for i, r := range reqs {
		if r.op != nil && r.over() {
			st, err := r.finish()
			reqs[i] = Request{}
			out = append(out, Outcome{i, st, err})
		}
	}
	return out
}

// TestSome makes progress, ends all requests that are complete and appends their
// outcomes to out. It does not wait.
func TestSome(reqs []Request, out []Outcome) []Outcome {
	p, source := first(reqs)
	if p == nil {
		return out
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	p.engine.Poll(source)
	return collect(reqs, out)
}

// TestAny is WaitAny without waiting: the place is −1 and done false if no
// request is complete.
func TestAny(reqs []Request) (index int, st Status, done bool, err error) {
	p, source := first(reqs)
	if p == nil {
		return -1, Status{}, true, nil
	}
	p.engine.Lock()
	defer p.engine.Unlock()
	p.engine.Poll(source)
	for i, r := range reqs {
		if r.op != nil && r.over() {
			st, err := r.finish()
			reqs[i] = Request{}
			return i, st, true, err
		}
	}
	return -1, Status{}, false, nil
}

// TestAll is WaitAll without waiting: if not all requests are complete it ends
// none and returns false.
func TestAll(reqs []Request, statuses []Status) (bool, error) {
	p, source := first(reqs)
	if p == nil {
		return true, nil
	}
	p.engine.Lock()
	p.engine.Poll(source)
	for _, r := range reqs {
		if r.op != nil && !r.over() {
			p.engine.Unlock()
			return false, nil
		}
	}
	p.engine.Unlock()
	return true, WaitAll(context.Background(), reqs, statuses)
}
