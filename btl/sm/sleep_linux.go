package sm

import "sync/atomic"

// What a side that sleeps waits for.
const (
	sleeps   = 1 // a record
	needRoom = 2 // room in the ring that it writes
)

// A side is the word that says whether one of the two sleeps. Each side writes its own, but for
// the one that wakes it, who clears it: so a sleeper is woken once.
type side struct{ word *atomic.Uint64 }

// wants reports whether the side sleeps and waits for this, and takes note that it is woken.
func (s side) wants(what uint64) bool {
	v := s.word.Load()
	return v&what != 0 && s.word.CompareAndSwap(v, 0)
}
