package handoff

import (
	"errors"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"time"
)

// troubleRest is how long a listener waits when its system has nothing to give: neither
// descriptors nor memory.
const troubleRest = 100 * time.Millisecond

// FetchAll is for listeners. A goroutine makes a call that blocks, again and again; the loop hands
// each result to take. Results are fetched while the loop is away too, since a library's queue that is
// full may refuse those who come. At most so many results wait; a further one takes the place of one
// that chance picks, and drop ends that one. After an error the loop calls trouble, and the call is
// made again a little later. [net.ErrClosed] ends the calls, as does the end of the module: drop then
// ends the results that wait. The goroutine calls drop.
func FetchAll[T any](g *Group, most int, call func() (T, error), take, drop func(T), trouble func(error)) {
	a := &arrivals[T]{group: g, most: most, take: take}
	g.Go(func() {
		for {
			v, err := call()
			switch {
			case err == nil:
				if loser, full := a.add(v); full {
					drop(loser)
				}
			case g.ctx.Err() == nil && !errors.Is(err, net.ErrClosed):
				g.Post(func() { trouble(err) })
				g.rest(troubleRest)
			default:
				for _, v := range a.fetched(most) {
					drop(v)
				}
				return
			}
		}
	})
}

// rest waits, unless the module closes.
func (g *Group) rest(d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-g.ctx.Done():
	}
}

// arrivals wait for the loop.
type arrivals[T any] struct {
	group *Group
	most  int
	take  func(T)

	mu      sync.Mutex
	waiting []T
}

// add adds a newcomer, and returns the result that has to go for it if the list is full.
func (a *arrivals[T]) add(v T) (loser T, full bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if full = len(a.waiting) == a.most; full {
		i := rand.IntN(a.most)
		loser, a.waiting[i] = a.waiting[i], v
		return loser, true
	}
	if a.waiting = append(a.waiting, v); len(a.waiting) == 1 {
		a.group.Post(a.hand)
	}
	return loser, false
}

// fetched takes at most n off the list.
func (a *arrivals[T]) fetched(n int) []T {
	a.mu.Lock()
	defer a.mu.Unlock()
	n = min(n, len(a.waiting))
	first := slices.Clone(a.waiting[:n])
	a.waiting = slices.Delete(a.waiting, 0, n)
	return first
}

// hand hands over those that are there now.
func (a *arrivals[T]) hand() {
	for n := a.count(); n > 0 && a.group.ctx.Err() == nil; n-- {
		for _, v := range a.fetched(1) {
			a.take(v)
		}
	}
	if a.count() > 0 {
		a.group.Post(a.hand)
	}
}

func (a *arrivals[T]) count() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.waiting)
}
