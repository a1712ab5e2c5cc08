package engine

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
)

// Whatever brings what a goroutine waits for, and whoever does so, nobody sleeps whose wait is over: goroutines of a program wait and
// poll, those of the library wait beside them, and conditions come true in polls, held back frames, posts, timers and moves, or by a
// goroutine that does not wait.
func TestNobodySleepsWhoseWaitIsOver(t *testing.T) {
	for seed := range need.Seeds(t, 400, 100_000) {
		simulateWith(t, Options{Throng: seed%4 == 0}, func(t *testing.T, e *Engine) {
			s := &slumber{t: t, e: e, r: rand.New(rand.NewPCG(seed, 0)), open: make(map[*flag]wait)}
			for range 60 {
				s.step()
				synctest.Wait()
				s.check()
			}
			for range 1000 {
				if s.end() {
					return
				}
				pass(lentTick)
				s.check()
			}
			t.Error("waits go on for ever")
		})
	}
}

// slumber is a program at random. All of it is under the engine's lock.
type slumber struct {
	t    *testing.T
	e    *Engine
	r    *rand.Rand
	open map[*flag]wait // what is waited for
	plan []func()       // what the next polls of sources find
}

func (s *slumber) step() {
	s.e.Lock()
	what, while := s.r.IntN(12), [...]time.Duration{time.Microsecond, longTick, lentTick, time.Second}[s.r.IntN(4)]
	s.e.Unlock()
	switch what {
	case 0, 1:
		go s.wait(what == 0)
	case 2, 3, 4:
		go s.poll(2 * oftenPolls)
	case 5:
		s.poll(1)
	case 6, 7:
		pass(while)
	case 8:
		s.e.Post(s.bring)
	default:
		s.e.Lock()
		s.plan = append(s.plan, s.bring, s.bring)
		if what == 9 {
			s.bring()
		}
		s.e.Unlock()
	}
}

// wait is one of them.
type wait struct {
	ctx context.Context
	end context.CancelFunc
}

// wait waits for a flag of its own.
func (s *slumber) wait(beside bool) {
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	e, f := s.e, new(flag)
	e.Lock()
	defer e.Unlock()
	s.open[f] = wait{ctx, cancel}
	defer delete(s.open, f)
	var source btl.Poller
	if s.r.IntN(2) == 0 {
		source = s.source()
	}
	await := e.Wait
	if beside {
		await = e.WaitBeside
	}
	if err := await(ctx, f, source); err != nil && ctx.Err() == nil {
		s.t.Error(err)
	}
}

// poll is calls of Test or Iprobe, so many at most.
func (s *slumber) poll(most int) {
	s.e.Lock()
	defer s.e.Unlock()
	for range 1 + s.r.IntN(most) {
		s.e.Poll(s.source())
	}
}

// source is an endpoint that finds what is planned, one thing at a poll.
func (s *slumber) source() *counter {
	return &counter{at: func(int) bool {
		if len(s.plan) == 0 || s.r.IntN(3) == 0 {
			return false
		}
		next := s.plan[0]
		s.plan = s.plan[1:]
		next()
		return s.r.IntN(2) == 0
	}}
}

// bring has one of the waits end: now, or by something that comes later.
func (s *slumber) bring() {
	switch s.r.IntN(10) {
	case 0, 1, 2:
		s.finish()
	case 7, 8:
		s.e.Flush(flushFunc(s.finish))
	case 3:
		s.e.FlushLater(flushFunc(s.bring))
	case 4:
		s.e.After(time.Duration(s.r.IntN(int(2*lentTick))), s.bring)
	case 5:
		s.e.Move(&load{e: s.e, none: s.r.IntN(4) == 0, moving: make(chan struct{}), then: s.bring})
	default:
		s.e.Post(s.bring)
	}
}

// finish ends one of the waits, mostly since what it is for has come.
func (s *slumber) finish() {
	for f, w := range s.open {
		if s.r.IntN(8) == 0 {
			w.end()
		} else {
			f.set(s.e)
		}
		return
	}
}

// check finds who sleeps though nothing is left to wait for. No goroutine can go on but by time.
func (s *slumber) check() {
	s.e.Lock()
	defer s.e.Unlock()
	for f, w := range s.open {
		require.False(s.t, f.done, "it sleeps")
		require.NoError(s.t, w.ctx.Err(), "it sleeps")
	}
}

// end ends the waits that are left, and reports whether none was.
func (s *slumber) end() bool {
	s.e.Lock()
	defer s.e.Unlock()
	for f := range s.open {
		f.set(s.e)
	}
	return len(s.open) == 0
}
