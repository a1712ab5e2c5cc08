package sm

import "sync/atomic"

// What a side waits for that does not look by itself, and that it waits.
const (
	sleeps   = 1 // it sleeps until there is a record
	needRoom = 2 // or room in the ring that it writes
	waits    = 4 // it is awake: it looks, has for long, and lets others have its processor
)

// A side is what one of the two sides says. Word is what it sleeps for, or that it waits; 0: it does
// neither. Each side writes its own words. Whoever wakes a side clears that side's word, so a sleeper is woken once. Place is one more than the number of
// the processor on which it is; 0: it has not said. Again is 1 if the side looks again after it has said that it sleeps.
type side struct{ word, place, again, wants, mark, markAt *atomic.Uint64 }

// sleepsFor reports whether the side, of which that word was seen, sleeps until there is this. If so it clears the word: the caller
// is the one to wake it. By now it may sleep for something else too (await): it sleeps all the same, and nobody else wakes it.
func (s side) sleepsFor(what, word uint64) bool {
	for word&what != 0 {
		if s.word.CompareAndSwap(word, 0) {
			return true
		}
		word = s.word.Load()
	}
	return false
}
