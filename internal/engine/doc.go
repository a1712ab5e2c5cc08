// Package engine is the progress engine: one for each world, with one lock,
// under which the message layer and all transports run.
//
// At any time at most one goroutine has the poller's role. It looks at
// descriptors, timers and modules and makes their up-calls. Roles change hands
// under the lock:
//
//   - A goroutine that waits ([Engine.Wait]) takes the role if nobody has it and
//     spins: it polls the endpoint it waits for, now and then everything else.
//     After a while it parks, by blocking itself in the system's poll call.
//   - One that waits while another has the role parks on a channel. Whoever gives
//     up the role hands it to one of those.
//   - One that calls [Engine.Poll] again and again gets the role from one that waits: its messages
//     would wait until that one is woken for each.
//   - While nobody waits, the background goroutine takes the role, but only after
//     a tick that saw less than one poll a millisecond. While anyone polls it stays
//     out: a second thread blocked on the same set slows down one that spins by two
//     to four times. A waiter takes the role back at once, without waiting for the
//     background goroutine to wake.
//
// No socket is ever registered in Go's own poller. Only what ends the background goroutine's doze is.
package engine
