package sm

import "sync/atomic"

// What a side that sleeps waits for.
const (
	sleeps   = 1 // a record
	needRoom = 2 // room in the ring that it writes
)

// A side is what one of the two sides says. Word is what it sleeps for; 0: it is awake. Each side
// writes its own words. Whoever wakes a side clears that side's word, so a sleeper is woken once. Place is one more than the number of
// the processor on which it waits; 0: it has not said. Again is 1 if the side looks again after it has said that it sleeps.
type side struct{ word, place, again, wants, mark, markAt *atomic.Uint64 }

// waitsFor reports whether the side sleeps and waits for this. If so it clears the word: the caller
// is the one to wake it.
func (s side) waitsFor(what uint64) bool { return s.waited(s.word.Load(), what) }

// waited is waitsFor for a side of which that word was seen. By now it may wait for something else too (await): it sleeps
// all the same, and nobody else wakes it.
func (s side) waited(word, what uint64) bool {
	for word&what != 0 {
		if s.word.CompareAndSwap(word, 0) {
			return true
		}
		word = s.word.Load()
	}
	return false
}
