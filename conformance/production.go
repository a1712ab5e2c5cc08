package conformance

import (
	"context"
	"time"

	"github.com/strandmp/strand/internal/engine"
)

// A production turns a rank with the engine that programs have. On ranks with an
// odd number nobody waits, so that the engine's background goroutine does everything.
type production struct {
	*engine.Engine
	r      *rank
	cancel context.CancelFunc
	done   chan struct{} // nil until started
}

func newProduction(r *rank) *production {
	e, err := engine.New(engine.Options{Spin: 50 * time.Microsecond})
	if err != nil {
		panic("conformance: " + err.Error())
	}
	p := &production{Engine: e, r: r}
	e.Lock()
	e.AddProgressor(r)
	e.Unlock()
	return p
}

func (p *production) lock()   { p.Lock() }
func (p *production) unlock() { p.Unlock() }
func (p *production) close()  { p.Close() }

func (p *production) start() {
	if p.r.id%2 == 1 {
		return
	}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	p.done = make(chan struct{})
	go func() {
		defer close(p.done)
		p.Lock()
		defer p.Unlock()
		// It ends with the context: the condition never comes true.
		_ = p.Wait(ctx, never{}, nil)
	}()
}

func (p *production) turn() {
	p.Lock()
	defer p.Unlock()
	p.Poll(nil)
}

func (p *production) stop() {
	if p.done != nil {
		p.cancel()
		<-p.done
	}
}

// never is a condition that does not come true.
type never struct{}

func (never) Done() bool          { return false }
func (never) Park(*engine.Waiter) {}
