package relay

import "fmt"

// An Action is what happens to one direction of a connection, or to both.
type Action uint8

const (
	// None lets all pass.
	None Action = iota
	// Cut ends the connection to both sides, in order.
	Cut
	// Reset does so by resets.
	Reset
	// Shut ends this direction only, in order.
	Shut
	// Hold keeps what follows in this direction until [Relay.Release].
	Hold
	// Flip changes one bit.
	Flip
	// Lose drops all that follows in this direction, and tells nobody.
	Lose
)

func (a Action) String() string {
	return [...]string{"none", "cut", "reset", "shut", "hold", "flip", "lose"}[a]
}

// A Fault is what happens to one direction of a connection.
type Fault struct {
	Do Action
	// At is how many bytes pass before it happens.
	At int64
	// Bit, of Flip, is which of the next byte's: 0 to 7.
	Bit uint8
	// Piece, if not 0, is the most bytes that are passed on at once.
	Piece int
}

func (f Fault) String() string { return fmt.Sprintf("%v at %d", f.Do, f.At) }

// Faults are those of a connection: of what who has connected says, and of the answers.
type Faults struct{ Forth, Back Fault }

// A Plan says what happens to a connection, by its number among those of the job, from 0. Several goroutines
// call it.
type Plan func(number int) Faults
