package engine

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
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

func (p *scripted) due() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kicked
}

// take reports whether a kick is due, and takes it as a thread that wakes does.
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

// newUnblocked is an engine on a simulated poller in which nobody waits. It is locked.
func newUnblocked(t *testing.T) *Engine {
	for {
		e, err := New(Options{Simulated: true})
		require.NoError(t, err)
		e.Lock()
		if !e.blocked {
			return e
		}
		e.Unlock() // a tick came first, as where this thread is away for a while
		e.Close()
	}
}

// newScripted is an engine on a scripted poller, its background goroutine blocked.
func newScripted(t *testing.T) (*Engine, *scripted) {
	leak.Check(t)
	e, p := newUnblocked(t), &scripted{}
	e.poller = p
	e.Unlock()
	e.until(t, "the background goroutine waits", func() bool { return e.blocked && p.threads() == 1 })
	return e, p
}

// A background goroutine that has lost the role is still in the poller, where it
// could eat a kick meant for the waiter that has it now. So that one stays out of
// the poller until the other has left.
func TestWaiterStaysOutUntilBackgroundHasLeft(t *testing.T) {
	ends := map[string]func(*Engine, *flag, context.CancelFunc){
		"condition": func(e *Engine, f *flag, _ context.CancelFunc) {
			e.Lock()
			f.set(e)
			e.Unlock()
		},
		"context": func(_ *Engine, _ *flag, cancel context.CancelFunc) { cancel() },
	}
	for name, end := range ends {
		start := func(t *testing.T) (e *Engine, p *scripted, finish func()) {
			e, p = newScripted(t)
			ctx, cancel := context.WithCancel(t.Context())
			var f flag
			done := make(chan error)
			go func() { done <- e.waitFor(ctx, &f, nil) }()
			e.until(t, "the waiter is parked", func() bool { return f.waiter != nil })
			require.Equal(t, 1, p.threads())
			return e, p, func() {
				end(e, &f, cancel)
				if p.threads() > 0 && f.parked > 1 {
					e.until(t, "a kick is due", p.due)
					p.wake(t)
				}
				require.Equal(t, name == "condition", <-done == nil)
				cancel()
			}
		}
		t.Run(name+" while it stays out", func(t *testing.T) {
			e, p, finish := start(t)
			finish()
			p.wake(t) // the background goroutine
			closeScripted(t, e, p)
		})
		t.Run(name+" after it went in", func(t *testing.T) {
			e, p, finish := start(t)
			p.wake(t) // the background goroutine
			e.until(t, "the waiter goes in", func() bool { return e.blocked && p.threads() == 1 })
			finish()
			closeScripted(t, e, p)
		})
	}
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
