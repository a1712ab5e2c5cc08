package engine

import "github.com/strandmp/strand/btl"

// Moves of many bytes are made without the lock (docs/decisions/0040-copies-outside-of-the-lock.md): by the goroutine that is
// about to release it anyway, or by who has the role, between two polls. So neither the message layer
// nor a transport is in the middle of anything when the lock is released.

const (
	// moveAlone is how much one move takes if nobody else wants to do anything.
	moveAlone = 1 << 20
	// moveShared is how much it takes if somebody waits: for the role, which whoever moves keeps,
	// or for the lock.
	moveShared = btl.LongMove
)

// Move implements [btl.Loop].
func (e *Engine) Move(m btl.Mover) { e.moves = append(e.moves, m) }

// makeMoves makes those moves that wait now, and reports whether any of them moved anything. The
// lock is held, and nobody makes up-calls.
func (e *Engine) makeMoves() (did bool) {
	for n := len(e.moves); n > 0 && len(e.moves) > 0; n-- {
		did = e.makeMove() || did
	}
	return did
}

func (e *Engine) makeMove() bool {
	m, most := e.nextMove(), moveAlone
	if e.queue.first != nil || e.contended.Load() > 0 {
		most = moveShared
	}
	e.polling = true
	begun := m.Begin(most)
	e.polling = false
	if !begun {
		return false
	}
	e.mu.Unlock()
	m.Move()
	e.Lock()
	e.polling = true
	did := m.End()
	e.polling = false
	return did
}

func (e *Engine) nextMove() btl.Mover {
	m, last := e.moves[0], len(e.moves)-1
	copy(e.moves, e.moves[1:])
	e.moves[last] = nil
	e.moves = e.moves[:last]
	return m
}
