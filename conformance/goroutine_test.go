package conformance

import (
	"sync"
	"testing"
)

// Goroutines that live at the same time are told apart, each for as long as it lives: when
// its stack grows, and on whichever thread it goes on.
func TestGoroutine(t *testing.T) {
	const goroutines = 50
	var all, met, wait sync.WaitGroup
	var seen sync.Map
	all.Add(goroutines)
	met.Add(1)
	for range goroutines {
		wait.Go(func() {
			id := goroutine()
			if _, double := seen.LoadOrStore(id, true); double || id == 0 {
				t.Errorf("two goroutines are %d", id)
			}
			all.Done()
			met.Wait()
			if deep := deepDown(1000); deep != id || goroutine() != id {
				t.Errorf("goroutine %d is %d, and within many calls %d", id, goroutine(), deep)
			}
		})
	}
	all.Wait()
	met.Done()
	wait.Wait()
}

func deepDown(calls int) uintptr {
	var room [256]byte
	if calls > 0 {
		return deepDown(calls-1) + uintptr(room[calls%len(room)])
	}
	return goroutine()
}
