package engine

// rest has the holder wait until something happens. In a throng the background goroutine waits in its place. Where something is left
// to do that may be for somebody who wants the lock: a module does not doze while another goroutine makes a move of what has come there.
func (e *Engine) rest(w *waiter, c Condition) {
	if !e.mayRest(w, c) {
		e.letOthersIn(0)
		return
	}
	switch {
	case e.callers.wanted:
		e.lend(w, c)
	case e.opts.Throng:
		e.leaveRole(w, c)
	default:
		e.block(w, c)
	}
}

// mayRest reports whether there is nothing left to do. The modules have then been told that nobody polls.
func (e *Engine) mayRest(w *waiter, c Condition) bool {
	// What no descriptor announces comes first. After this poll nothing of it is
	// left, and what comes later kicks.
	if e.poll(nil) || c.Done() || w.cancelled || e.closed || e.heldBack() || len(e.moves) > 0 {
		return false
	}
	if e.aside.watch != nil { // it could not be brought back
		e.letOthersIn(1)
		return false
	}
	return e.doze()
}

// leaveRole gives the role to the background goroutine and parks until the condition may have come true. Wait takes the role
// back if it has not.
//
// A thread that blocks in a system call of its own is for Go's runtime one that may go on at any time: its monitor looks after it
// every 20 µs, later every some 100, for 10 ms, and all that time it takes of those who have something to do. A thousand
// ranks on two processors spent a quarter of their time with that, and as much with what follows from it. The background
// goroutine dozes in Go's own poller, and while a process does nothing else the monitor sleeps. A message
// then passes from one goroutine to the other, which costs more where few ranks share a processor.
func (e *Engine) leaveRole(w *waiter, c Condition) {
	e.takeOver()
	e.blocked = true
	e.setAlarm()
	e.parkInQueue(w, c)
}
