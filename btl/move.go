package btl

import "sync"

// LongMove is how many bytes a system call, or a copy, may move under the loop's lock. What may
// move more is a [Mover]'s.
const LongMove = 64 << 10

// A Mover moves many bytes, by one system call or by copying, while other calls of its module may
// be made: the loop makes the call without its lock ([Loop.Move]). So threads that talk to
// different peers move their bytes at the same time, and a short message does not wait for the
// bytes of a long one.
//
// Memory that a Mover uses is pinned, from Begin until Move is over: nobody else may release it,
// use it for something else, or close the descriptor. Whoever wants to waits for the end of Move
// ([Pin.Wait]). That is no wait for the network, as Move never waits.
type Mover interface {
	// Begin is a call like any other: serial. It chooses the bytes, pins what Move needs and
	// reports true. It reports false if there is nothing to move any more; then neither Move
	// nor End follows. Most is how many bytes Move should move at most: fewer while others wait.
	Begin(most int) bool
	// Move moves the bytes. It runs at the same time as other calls of the module. So it touches
	// only what Begin has set aside for it, makes no call of the loop, the host or a receiver, and
	// does not block. The last that it does is to take the pins away.
	Move()
	// End is serial again. It takes note of what was moved, may make up-calls, and reports whether
	// anything was moved. Since Begin anything may have happened: the endpoint may be closed.
	End() bool
}

// A Pin keeps memory, or a descriptor, for a [Mover]. The zero value is ready for use.
type Pin struct {
	mu sync.Mutex
	on bool // serial: it was set, and nobody has waited for its end since
}

// Set pins, from a call of [Mover.Begin]. Nobody holds the pin.
func (p *Pin) Set() {
	p.on = true
	p.mu.Lock()
}

// Clear ends what Set began, at the end of [Mover.Move].
func (p *Pin) Clear() { p.mu.Unlock() }

// Wait returns when the Mover is done with what is pinned. It is a serial call. What Move has
// written before Clear is seen after Wait.
func (p *Pin) Wait() {
	if p.on {
		p.mu.Lock()
		p.on = false
		p.mu.Unlock()
	}
}
