package engine

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// flood is a source of events that never ends, unless the test has it end.
type flood struct {
	polls atomic.Int64
	over  atomic.Bool
}

func (f *flood) Progress() bool {
	f.polls.Add(1)
	return !f.over.Load()
}

// flooded is an engine whose background goroutine finds something with every poll.
func flooded(t *testing.T) (*Engine, *flood) {
	t.Helper()
	e, f := newEngine(t, Options{}), &flood{}
	t.Cleanup(func() { f.over.Store(true) })
	e.untilBackground(t)
	e.Lock()
	e.AddProgressor(f)
	e.Nudge()
	e.Unlock()
	f.more(t)
	return e, f
}

// more waits until some polls more have been made.
func (f *flood) more(t *testing.T) {
	t.Helper()
	from := f.polls.Load()
	require.Eventually(t, func() bool { return f.polls.Load() > from+100 }, patience, time.Millisecond)
}

// returns requires that what is done while the flood goes on ends.
func (f *flood) returns(t *testing.T, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(patience):
		f.over.Store(true)
		<-done
		t.Error("it was not let in while the background goroutine went on polling")
	}
}

// Who closes an engine is let in though every poll of the background goroutine finds something.
func TestCloseWhileEveryPollFinds(t *testing.T) {
	e, f := flooded(t)
	f.returns(t, e.Close)
}

// Who lets others in for a moment gets the lock back, though meanwhile every poll of the background goroutine finds something.
func TestLockComesBackWhileEveryPollFinds(t *testing.T) {
	for name, release := range map[string]func(*Engine){
		"way is made":       func(e *Engine) { e.MakeWay(true) },
		"others are let in": func(e *Engine) { e.letOthersIn(1) },
		"the woken run":     func(e *Engine) { e.letWokenRun(&waiter{}) },
		"one stands back":   func(e *Engine) { e.standBack(false) },
	} {
		t.Run(name, func(t *testing.T) {
			e, f := flooded(t)
			f.returns(t, func() {
				for range 20 {
					e.Lock()
					release(e)
					e.Unlock()
				}
			})
		})
	}
}

// busied is a module that does not doze, since somebody else makes a move of what has come there. It finds nothing until that is over.
type busied struct{ flood }

func (b *busied) Progress() bool {
	b.flood.Progress()
	return false
}

func (b *busied) Doze() bool { return b.over.Load() }
func (b *busied) Wake()      {}

// Who makes a move gets the lock back to end it, though a waiter that would park goes on polling, in vain, since the module waits for that.
func TestMoveEndsWhileAWaiterCanNotPark(t *testing.T) {
	e, b := newEngine(t, Options{}), &busied{}
	l := newLoad(e)
	var f flag
	l.then = func() {
		b.over.Store(true)
		f.set(e)
	}
	e.Lock()
	e.AddProgressor(b)
	e.Unlock()
	go func() {
		e.Lock()
		e.Move(l)
		e.Unlock()
	}()
	<-l.moving
	done := make(chan error)
	go func() { done <- e.waitFor(watchdog(t), &f, nil) }()
	b.more(t)
	close(l.release)
	require.NoError(t, <-done)
}
