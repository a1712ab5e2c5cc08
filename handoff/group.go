package handoff

import (
	"context"
	"io"
	"sync"
	"sync/atomic"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/given"
)

// A Group is the goroutines of one module. The methods Go, Post, Do, Read and Context may be
// called from any goroutine; Close is the loop's.
type Group struct {
	loop    btl.Loop
	ctx     context.Context
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// NewGroup makes a group whose results go to a loop.
func NewGroup(loop btl.Loop) *Group {
	g := &Group{loop: loop}
	g.ctx, g.cancel = context.WithCancel(context.Background())
	return g
}

// Context ends when the module closes. Contexts of connections come from it.
func (g *Group) Context() context.Context { return g.ctx }

// Go runs f in a goroutine. F must come to its end soon after the group's context has.
func (g *Group) Go(f func()) { g.running.Go(f) }

// Post runs f in the loop, soon, unless the module closes before.
func (g *Group) Post(f func()) {
	g.loop.Post(func() {
		if g.ctx.Err() == nil {
			f()
		}
	})
}

// Do runs f in the loop and waits until it has run, or ctx ends. It reports whether f has begun.
// If not, f never will, and what f was to take, such as a connection, is still the caller's. Ctx
// is the group's or one that ends with it.
func (g *Group) Do(ctx context.Context, f func()) bool {
	given.Context(ctx)
	var begun atomic.Bool // set by f, or by the caller that gives f up
	done := make(chan struct{})
	g.loop.Post(func() {
		if ctx.Err() == nil && begun.CompareAndSwap(false, true) {
			f()
		}
		close(done)
	})
	select {
	case <-done:
		return begun.Load()
	case <-ctx.Done():
		return !begun.CompareAndSwap(false, true)
	}
}

// Read reads pieces of at most size bytes and shows each to f, in the loop. The next piece is
// read when f has returned: the back-pressure of a process that does not look at its messages. F
// may not keep b. The last call of f has the error that ends the stream, [io.EOF] at its end, and
// maybe bytes too. Read returns after that call, or when ctx ends; f is not called after that. Ctx
// ends in the loop, and is the group's or one that ends with it.
func (g *Group) Read(ctx context.Context, r io.Reader, size int, f func(b []byte, err error)) {
	given.Context(ctx)
	var n int
	var err error
	buf := make([]byte, size)
	shown := make(chan struct{}, 1)
	show := func() {
		if ctx.Err() == nil {
			f(buf[:n], err)
		}
		shown <- struct{}{}
	}
	for err == nil {
		n, err = r.Read(buf)
		g.loop.Post(show)
		select {
		case <-shown:
		case <-ctx.Done():
			return
		}
	}
}

// Close ends the group's context and waits for the goroutines: for those of links that send
// their last bytes ([Link.Leave]) two seconds at most. Nothing is run in the loop any more.
func (g *Group) Close() {
	g.cancel()
	g.running.Wait()
}

// Fetch has a goroutine make a call that blocks; the loop hands the result to take. If ctx ends
// first nobody wants the result any more, and drop ends it. Ctx is the group's or one that ends
// with it.
func Fetch[T any](ctx context.Context, g *Group, call func() (T, error), take func(T, error), drop func(T)) {
	given.Context(ctx)
	g.Go(func() {
		v, err := call()
		if !g.Do(ctx, func() { take(v, err) }) && err == nil {
			drop(v)
		}
	})
}
