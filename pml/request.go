package pml

import (
	"context"

	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/given"
)

// A Request stands for an operation that was started. It is a small value; copies
// stand for the same operation. The zero Request stands for none (MPI's null request).
//
// A request must be waited for, or tested until it is done; that ends it. A
// second wait for it returns [ErrFinished], unless it was complete when it was
// started: then it may be waited for as often as one likes.
type Request struct {
	op  *operation
	gen uint32
}

func requestOf(op *operation) Request { return Request{op, op.gen} }

// begun returns the request of an operation that was started. Nil stands for one that
// was complete at once and is no more: its request is not zero, or it would be taken
// for none.
func (p *PML) begun(op *operation, err error) (Request, error) {
	switch {
	case err != nil:
		return Request{}, err
	case op == nil:
		return requestOf(&p.instant), nil
	}
	return requestOf(op), nil
}

// Instant reports whether the operation was complete when it was started, so that
// there is nothing to look at and nothing to end. No lock is needed.
func (r Request) Instant() bool { return r.op == &r.op.pml.instant }

// Ended reports whether the request has ended: it was waited for, tested until it was done, or left,
// or it is none, or was complete when it was started.
func (r Request) Ended() bool {
	if r.op == nil || r.Instant() {
		return true
	}
	e := r.op.pml.engine
	e.Lock()
	defer e.Unlock()
	return r.op.gen != r.gen
}

// over reports whether the operation is done or its request has ended, or is not waited for any more.
func (r Request) over() bool { return r.op.gen != r.gen || r.op.done || r.op.vain }

// lone is an operation whose request nobody else has, as a condition: that of a
// blocking call.
type lone operation

// Done implements [engine.Condition].
func (op *lone) Done() bool { return op.done || op.vain }

// Park implements [engine.Condition].
func (op *lone) Park(w *engine.Waiter) { op.waiter = w }

// isOver implements [outcome].
func (op *lone) isOver() bool { return op.done }

// awaitAlone waits for the operation of a blocking call, and ends it or, if the
// context ends first, leaves it.
func (p *PML) awaitAlone(ctx context.Context, op *operation) (Status, error) {
	st, in, err := p.awaitOrLeave(ctx, op)
	if in != nil {
		p.putBack(in)
	}
	return st, err
}

// awaitOrLeave is awaitAlone for who puts the message back that was given back.
func (p *PML) awaitOrLeave(ctx context.Context, op *operation) (Status, *inbound, error) {
	if op.claim() {
		op.lookOn()
	}
	op.block()
	if !op.done {
		wait := p.traceWait(1)
		p.awaited = (*lone)(op)
		err := p.engine.Wait(ctx, (*lone)(op), op.source())
		p.awaited = nil
		p.traceWaited(wait, err)
		if err != nil {
			if op.isSend && !op.done {
				err = &underwayError{err}
			}
			return Status{}, p.leave(op), err
		}
		if !op.done {
			err := op.context.startable()
			return Status{}, p.leave(op), err
		}
	}
	st, err := op.status, op.err
	p.freeOperation(op)
	return st, nil, err
}

// await waits for one operation and ends its request. The lock is held. If the
// context ends first the operation goes on.
func (p *PML) await(ctx context.Context, op *operation) (Status, error) {
	r := requestOf(op)
	switch {
	case op.done:
	case op.claim():
		op.lookOn()
	default:
		s := p.newWaitSet(nil)
		s.single[0] = r
		s.reqs = s.single[:]
		wait := p.traceWait(1)
		p.awaited = (*allOver)(s)
		err := p.engine.Wait(ctx, (*allOver)(s), op.source())
		p.awaited = nil
		p.traceWaited(wait, err)
		p.freeWaitSet(s)
		if err != nil {
			return Status{}, err
		}
	}
	return r.finish() // somebody else may have waited for it too
}

// leave ends a blocking call whose context has ended. A receive ends with it: its
// buffer is the caller's, and the message that it had begun to take is returned. A send
// goes on by itself, and so does what a [Completion] ends, unless that heeds it.
func (p *PML) leave(op *operation) *inbound {
	switch {
	case op.other && !op.done:
		op.orphan = true
		if op.abandoned != nil {
			op.abandoned()
		}
		return nil
	case op.isSend && !op.done:
		op.orphan = true
		op.claim()
		return nil
	case op.isSend || op.done:
	case op.recv.Posted():
		op.context.match.Cancel(&op.recv)
		p.wakeProbers() // it may have held a message
	default:
		return op.giveBack()
	}
	p.freeOperation(op)
	return nil
}

// Leave ends a request without waiting for it, as a blocking call does whose
// context has ended.
func Leave(r Request) { _, _, _ = r.EndNow() }

// EndNow ends a request without waiting for it: with its outcome if it is complete, or needs a copy alone for that, else by leaving it, as a blocking
// call does whose context has ended. It reports whether it was complete.
func (r Request) EndNow() (st Status, complete bool, err error) {
	if r.op == nil || r.Instant() {
		return r.empty(), true, nil
	}
	p := r.op.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if r.op.gen != r.gen {
		return Status{}, false, ErrFinished
	}
	if r.op.done || r.op.claim() {
		st, err = r.finish()
		return st, true, err
	}
	if in := p.leave(r.op); in != nil {
		p.putBack(in)
	}
	return Status{}, false, nil
}

// Wait blocks until the operation is complete and returns its outcome, which
// ends the request. If ctx ends first Wait returns its error; the operation goes
// on, its buffer stays the library's, and the request may be waited for again.
func (r Request) Wait(ctx context.Context) (Status, error) {
	given.Context(ctx)
	if r.op == nil || r.Instant() {
		return r.empty(), nil
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
	if r.op == nil || r.Instant() {
		return r.empty(), true, nil
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
	if !r.over() && !r.op.claim() {
		return Status{}, false, nil
	}
	st, err := r.finish()
	return st, true, err
}

// noStatus is that of no request: it names no process and no tag (MPI 4.1, section 3.7.3).
var noStatus = Status{Source: AnySource, Tag: AnyTag}

// empty is the status of a request with which there is nothing to end: none, or a send that was
// complete when it was started.
func (r Request) empty() Status {
	if r.op == nil {
		return noStatus
	}
	return Status{}
}

// finish takes the outcome of an operation that is over.
func (r Request) finish() (Status, error) {
	if r.op == nil || r.Instant() {
		return r.empty(), nil
	}
	if r.op.gen != r.gen {
		return Status{}, ErrFinished
	}
	if !r.op.done {
		err := r.op.context.startable()
		r.op.pml.leave(r.op)
		return Status{}, err
	}
	st, err := r.op.status, r.op.err
	r.op.pml.freeOperation(r.op)
	return st, err
}

// letGo ends the waits for a send of a context that takes no more. It goes on by itself.
func (op *operation) letGo() {
	op.vain = true
	if op.waiter != nil {
		op.pml.engine.Wake(op.waiter)
	}
	for _, s := range op.sets {
		s.told(op.pml.engine)
	}
}

// Cancel takes back a receive that has not matched and reports whether it could:
// the buffer is then the caller's, and the request complete. It is waited for or
// tested as any other; its status says that it was cancelled, and there is no error
// (MPI 4.1, section 3.8.4). Sends can not be cancelled: MPI deprecates it.
func (r Request) Cancel() bool {
	if r.op == nil || r.Instant() {
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
