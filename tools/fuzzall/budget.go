package main

import (
	"sync"
	"time"
)

// A budget says how long each fuzzer may run, so that all end in time. What else a fuzzer takes, to be built, to try its seeds and to end,
// is taken to be as for the last that has ended.
type budget struct {
	each time.Duration // at most
	end  time.Time     // of all; zero: whenever

	mu     sync.Mutex
	left   int // that have not begun
	atOnce int
	beside time.Duration // what the last that has ended took beside its time: the first build much that the others use
}

const (
	leastEach   = time.Second
	firstBeside = 10 * time.Second // what one takes beside its time, as long as none has ended
)

func newBudget(each, within time.Duration) *budget {
	b := &budget{each: each, beside: firstBeside}
	if within > 0 {
		b.end = time.Now().Add(within)
	}
	return b
}

// share is told how many there are.
func (b *budget) share(fuzzers, atOnce int) { b.left, b.atOnce = fuzzers, atOnce }

// next is how long the next one may run.
func (b *budget) next() time.Duration {
	b.mu.Lock()
	defer b.mu.Unlock()
	left := (b.left + b.atOnce - 1) / b.atOnce // one after the other
	b.left--
	if b.end.IsZero() {
		return b.each
	}
	share := time.Until(b.end)/time.Duration(max(left, 1)) - b.beside
	return min(b.each, max(share, leastEach)).Truncate(time.Second / 10)
}

// took is told what one has taken that had been given so long.
func (b *budget) took(each, all time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.beside = all - each
}
