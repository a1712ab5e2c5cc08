package sm

import "sync/atomic"

// What a side that sleeps waits for.
const (
	sleeps   = 1 // a record
	needRoom = 2 // room in the ring that it writes
)

// A side is the word that says what one of the two sides sleeps for; 0: it is awake. Each side
// writes its own word. Whoever wakes a side clears that side's word, so a sleeper is woken once.
type side struct{ word *atomic.Uint64 }

// wants reports whether the side sleeps and waits for this. If so it clears the word: the caller
// is the one to wake it.
func (s side) wants(what uint64) bool {
	v := s.word.Load()
	return v&what != 0 && s.word.CompareAndSwap(v, 0)
}
