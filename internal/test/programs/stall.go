package programs

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand"
)

// stall is how long nothing may happen in a session before it counts as hung. It is longer
// than pml_peer_timeout.
const stall = 50 * time.Second

// A pulse counts what happens in a session.
type pulse struct{ beats atomic.Int64 }

func (p *pulse) beat() { p.beats.Add(1) }

// looks is how often in a row nothing must be seen to have happened.
const looks = 50

// watch ends the session when nothing has happened for too long. That is counted in looks,
// not by the clock: on a machine that does other things this goroutine looks as much more
// rarely as the ranks get on more slowly.
func (p *pulse) watch(ctx context.Context, patience time.Duration, end func(error)) {
	seen, idle := p.beats.Load(), 0
	for ctx.Err() == nil {
		pause(ctx, patience/looks)
		letOthersRun()
		if now := p.beats.Load(); now != seen {
			seen, idle = now, 0
		} else if idle++; idle == looks {
			end(fmt.Errorf("hung: nothing has happened for %v, or more on a slow machine", patience))
		}
	}
}

// letOthersRun has each goroutine that can run do so some times.
func letOthersRun() {
	for range 100 {
		runtime.Gosched()
	}
}

// hung ends a session in which nothing happens, and keeps where all goroutines stand: it may never be seen to hang again.
func (x *run) hung(err error) {
	stacks := make([]byte, 4<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	x.mu.Lock()
	worlds := x.worlds
	x.stacks = string(stacks)
	x.mu.Unlock()
	for _, w := range worlds {
		x.rails(w)
	}
	x.cancel(err)
}

// rails keeps by what a rank is connected, if it tells: what hangs may be its engine.
func (x *run) rails(w *strand.World) {
	told := make(chan string, 1)
	go func() { told <- fmt.Sprintf("rank %d: %+v, %+v", w.Rank(), w.Rails(), w.Stats()) }()
	select {
	case line := <-told:
		x.log(0, line)
	case <-time.After(time.Second):
		x.log(0, fmt.Sprintf("rank %d does not tell its rails", w.Rank()))
	}
}

func (x *run) opened(w *strand.World) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.worlds = append(x.worlds, w)
}
