package engine

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/leak"
)

// scripted is a poller whose test says which of the threads that wait in it
// wakes, and so which of them eats a kick. Several threads that wait on one
// epoll set race like that.
type scripted struct {
	mu     sync.Mutex
	kicked bool
	inside []chan struct{} // who waits, in the order of coming
}

func (p *scripted) now() int64 { return 1 }

func (p *scripted) wait(_ []event, timeout int64) int {
	if timeout == 0 {
		return 0
	}
	ch := make(chan struct{})
	p.mu.Lock()
	p.inside = append(p.inside, ch)
	p.mu.Unlock()
	<-ch
	return 0
}

func (p *scripted) kick() {
	p.mu.Lock()
	p.kicked = true
	p.mu.Unlock()
}

// pending reports whether a kick is due, and takes it as a thread that wakes
// does.
func (p *scripted) take() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.kicked
	p.kicked = false
	return was
}

// wake has the thread that came in first wake and eat the kick.
func (p *scripted) wake(t *testing.T) {
	t.Helper()
	require.True(t, p.take(), "nobody kicked")
	p.mu.Lock()
	defer p.mu.Unlock()
	require.NotEmpty(t, p.inside)
	close(p.inside[0])
	p.inside = p.inside[1:]
}

func (p *scripted) threads() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.inside)
}

func (p *scripted) add(int, uint64) error         { return nil }
func (p *scripted) write(int, uint64, bool) error { return nil }
func (p *scripted) remove(int)                    {}
func (p *scripted) close()                        {}

// newScripted is an engine on a scripted poller, its background goroutine blocked.
func newScripted(t *testing.T) (*Engine, *scripted) {
	leak.Check(t)
	e, err := New(Options{Simulated: true})
	require.NoError(t, err)
	p := &scripted{}
	e.Lock()
	require.False(t, e.blocked)
	e.poller = p
	e.Unlock()
	e.until(t, "the background goroutine waits", func() bool { return e.blocked && p.threads() == 1 })
	return e, p
}

// A background goroutine that has lost the role may eat the kick for the waiter
// that has it now. It must pass it on.
func TestKickEatenByBackground(t *testing.T) {
	e, p := newScripted(t)
	var f flag
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, e.waitFor(t.Context(), &f, nil)) })
	e.until(t, "the waiter waits too", func() bool { return f.waiter != nil && p.threads() == 2 })
	e.Lock()
	f.set(e) // a second kick: with the first it makes one
	e.Unlock()
	p.wake(t) // the background goroutine
	e.until(t, "the kick is passed on", func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		return p.kicked
	})
	p.wake(t) // the waiter
	all.Wait()
	closeScripted(t, e, p)
}

// A waiter may eat the kick for the background goroutine that is to go away.
func TestKickEatenByWaiter(t *testing.T) {
	e, p := newScripted(t)
	var f flag
	var all sync.WaitGroup
	all.Go(func() { assert.NoError(t, e.waitFor(t.Context(), &f, nil)) })
	e.until(t, "the waiter waits too", func() bool { return f.waiter != nil && p.threads() == 2 })
	p.mu.Lock()
	p.inside[0], p.inside[1] = p.inside[1], p.inside[0]
	p.mu.Unlock()
	e.Lock()
	f.set(e)
	e.Unlock()
	p.wake(t) // the waiter
	all.Wait()
	p.wake(t) // the background goroutine
	closeScripted(t, e, p)
}

func TestCloseWhileBackgroundIsStillToWake(t *testing.T) {
	e, p := newScripted(t)
	e.Lock()
	e.Poll(nil)
	e.Unlock()
	closeScripted(t, e, p)
}

// closeScripted closes an engine and wakes whoever is inside.
func closeScripted(t *testing.T, e *Engine, p *scripted) {
	closed := make(chan struct{})
	go func() {
		e.Close()
		close(closed)
	}()
	e.until(t, "it closes", func() bool { return e.closed })
	for p.threads() > 0 {
		p.wake(t)
	}
	<-closed
}
