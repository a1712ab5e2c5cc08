package engine

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
)

// patience bounds what a test waits for. It is a watchdog: nothing depends on
// how long anything takes.
const patience = 5 * time.Minute

func newEngine(t testing.TB, opts Options) *Engine {
	t.Helper()
	leak.Check(t)
	e, err := New(opts)
	require.NoError(t, err)
	t.Cleanup(e.Close)
	return e
}

// newEngineOn is an engine on a poller that the test has made of the system's.
func newEngineOn[P poller](t testing.TB, opts Options, wrap func(poller) P) (*Engine, P) {
	t.Helper()
	leak.Check(t)
	inner, err := newPoller()
	require.NoError(t, err)
	p := wrap(inner)
	e := start(opts, p)
	t.Cleanup(e.Close)
	return e, p
}

// watchdog is a context that ends the test's waits if something hangs.
func watchdog(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// flag is a condition that somebody sets.
type flag struct {
	done   bool
	waiter *Waiter
	parked int // how often somebody was
}

func (f *flag) Done() bool { return f.done }

func (f *flag) Park(w *Waiter) {
	f.waiter = w
	if w != nil {
		f.parked++
	}
}

// set makes the condition true. The lock is held.
func (f *flag) set(e *Engine) {
	f.done = true
	if f.waiter != nil {
		e.Wake(f.waiter)
	}
}

// wait waits for the flag, with the lock taken for it.
func (e *Engine) waitFor(ctx context.Context, f *flag, source *counter) error {
	e.Lock()
	defer e.Unlock()
	if source == nil {
		return e.Wait(ctx, f, nil)
	}
	return e.Wait(ctx, f, source)
}

// until waits until a state that only shows under the lock.
func (e *Engine) until(t testing.TB, what string, state func() bool) {
	t.Helper()
	deadline := time.Now().Add(patience)
	again := time.NewTicker(50 * time.Microsecond)
	defer again.Stop()
	for {
		e.Lock()
		ok := state()
		e.Unlock()
		if ok {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("it never came to this: %s", what)
		}
		<-again.C // leaves the processor to those who work towards it
	}
}

// untilBackground waits until the background goroutine has the role and sleeps.
func (e *Engine) untilBackground(t testing.TB) {
	t.Helper()
	e.until(t, "the background goroutine is blocked", func() bool { return e.holder == &e.background.waiter && e.blocked })
}

// counter is a source that counts how often it is polled.
type counter struct {
	polls int
	at    func(n int) bool // if set, called at each
}

func (c *counter) Poll() bool {
	c.polls++
	return c.at != nil && c.at(c.polls)
}

// pair is two connected sockets, of which the engine watches one.
type pair struct {
	t        testing.TB
	e        *Engine
	near     int // watched
	far      int
	watch    btl.Watch
	bytes    int  // received
	writable bool // reported
	polls    int
	then     func() // called after each read
}

func newPair(t testing.TB, e *Engine) *pair {
	t.Helper()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	require.NoError(t, err)
	for _, fd := range fds {
		unix.CloseOnExec(fd)
		require.NoError(t, unix.SetNonblock(fd, true))
	}
	p := &pair{t: t, e: e, near: fds[0], far: fds[1]}
	e.Lock()
	p.watch, err = e.Watch(p.near, p)
	e.Unlock()
	require.NoError(t, err)
	t.Cleanup(func() {
		e.Lock()
		p.stop()
		e.Unlock()
		unix.Close(p.far)
	})
	return p
}

// stop ends the watch and closes the descriptor. The lock is held.
func (p *pair) stop() {
	if p.near >= 0 {
		p.watch.Stop()
		unix.Close(p.near)
		p.near = -1
	}
}

func (p *pair) send() {
	_, err := unix.Write(p.far, []byte{1})
	require.NoError(p.t, err)
}

// Poll implements [btl.Handler].
func (p *pair) Poll(writable bool) bool {
	p.polls++
	p.writable = p.writable || writable
	var buf [16]byte
	n, err := unix.Read(p.near, buf[:])
	if err != nil || n <= 0 {
		return writable
	}
	p.bytes += n
	if p.then != nil {
		p.then()
	}
	return true
}
