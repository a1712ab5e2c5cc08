package pml

// A Completion ends a request that stands for no send and no receive of its own: a collective
// operation, say, which is many of them, or a call that another goroutine makes. The request
// is waited for, tested and left as any other, together with others. The zero Completion is
// none.
//
// If the world is closed first, the request ends with [ErrClosed].
type Completion struct{ request Request }

// NewCompletion starts such a request, of a communicator. Abandoned may be nil. It is called
// once, under the engine's lock, if the request is left ([Leave]) before it is done: nobody
// waits for the outcome any more. What was begun may then be ended early; DoneLocked is to be
// called in any case, at once or later.
func (c *Context) NewCompletion(abandoned func()) (Completion, error) {
	p := c.pml
	p.engine.Lock()
	defer p.engine.Unlock()
	if err := c.usable(); err != nil {
		return Completion{}, err
	}
	op := p.newOperation()
	op.context, op.other, op.abandoned = c, true, abandoned
	return Completion{requestOf(op)}, nil
}

// Request is what is waited for.
func (d Completion) Request() Request { return d.request }

// Goes has a goroutine run that was just started and is to end the request: who waits or polls here lets it, before it goes on to do so.
func (d Completion) Goes() { d.request.op.pml.engine.Started() }

// Done ends the request with a status and an error, from any goroutine that is not called by
// the engine. What is said of a request that is over changes nothing.
func (d Completion) Done(st Status, err error) {
	e := d.request.op.pml.engine
	e.Lock()
	d.DoneLocked(st, err)
	e.Unlock()
}

// DoneLocked is Done for who is called by the engine, under its lock.
func (d Completion) DoneLocked(st Status, err error) {
	if r := d.request; !r.over() {
		r.op.status = st
		r.op.complete(err)
	}
}
