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
			newSlumber(t, e, seed).run()
		})
	}
}

// The same where who waits polls for a while first, with descriptors: they are set aside while one of them is waited for, the system
// has no room for them now and then, and the engine closes at last while some wait.
func TestNobodySleepsWhoseWaitIsOverByDescriptors(t *testing.T) {
	for seed := range need.Seeds(t, 200, 100_000) {
		synctest.Test(t, func(t *testing.T) {
			if seed%8 > 0 { // there is another world: others of this process run between polls, and no other process
				engines.Add(1)
				defer engines.Add(-1)
			}
			p := newTable()
			e := start(Options{Spin: time.Duration(seed%3) * 20 * time.Microsecond, Throng: seed%4 == 0, Crowded: seed%8 < 2, Stay: true}, p)
			defer e.Close()
			s := newSlumber(t, e, seed)
			e.Lock()
			for fd := range 3 {
				p.sockets[fd] = &socket{}
				o := &port{p: p, fd: fd}
				var err error
				o.watch, err = e.Watch(fd, portHandler{o})
				require.NoError(t, err)
				s.ports = append(s.ports, o)
			}
			e.Unlock()
			s.run()
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

	ports  []*port           // endpoints with descriptors
	due    map[int]time.Time // what is to come without anybody's doing, by when
	dues   int               // of which so many were numbered
	closes bool              // the engine does
}

func newSlumber(t *testing.T, e *Engine, seed uint64) *slumber {
	return &slumber{t: t, e: e, r: rand.New(rand.NewPCG(seed, 0)), open: make(map[*flag]wait), due: make(map[int]time.Time)}
}

func (s *slumber) run() {
	for range 60 {
		s.step()
		synctest.Wait()
		s.check()
	}
	if s.closes = len(s.ports) > 0 && s.r.IntN(2) == 0; s.closes {
		go s.e.Close()
	}
	for range 1000 {
		if s.end() {
			return
		}
		pass(lentTick)
		s.check()
	}
	s.t.Error("waits go on for ever")
}

// soon is how long anything may take that nobody has to ask for: the longest tick, and once more where the first one finds somebody at
// work.
const soon = 3 * longTick << maxCalm

// comes is a call of f that is to come after a while, whatever the program does.
func (s *slumber) comes(after time.Duration, f func()) func() {
	s.dues++
	n := s.dues
	s.due[n] = time.Now().Add(after + soon)
	return func() {
		delete(s.due, n)
		f()
	}
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
		s.e.Lock()
		f := s.comes(0, s.bring)
		s.e.Unlock()
		s.e.Post(f)
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
		if s.r.IntN(2) == 0 {
			e.aside.source, e.aside.waits = source, asideAfter // as after many waits for it
		}
	}
	await := e.Wait
	if beside {
		await = e.WaitBeside
	}
	if err := await(ctx, f, source); err != nil && ctx.Err() == nil && !s.closes {
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
func (s *slumber) source() btl.Poller {
	if len(s.ports) > 0 && s.r.IntN(2) == 0 {
		return portSource{s.port()}
	}
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

func (s *slumber) port() *port { return s.ports[s.r.IntN(len(s.ports))] }

// bring has one of the waits end: now, or by something that comes later.
func (s *slumber) bring() {
	while := time.Duration(s.r.IntN(int(2 * lentTick)))
	switch s.r.IntN(10) {
	case 0, 1, 2:
		s.finish()
	case 7, 8:
		s.e.Flush(flushFunc(s.comes(0, s.finish)))
	case 3:
		s.e.FlushLater(flushFunc(s.comes(0, s.bring)))
	case 4:
		s.e.After(while, s.comes(while, s.bring))
	case 5:
		if s.r.IntN(4) == 0 {
			s.e.Move(&load{e: s.e, none: true})
		} else {
			s.e.Move(&load{e: s.e, moving: make(chan struct{}), then: s.comes(0, s.bring)})
		}
	default:
		s.arrive(while)
	}
}

// arrive has something come from outside of the engine, at once or when there is room for it.
func (s *slumber) arrive(while time.Duration) {
	switch {
	case len(s.ports) == 0 || s.r.IntN(3) == 0:
		s.e.Post(s.comes(0, s.bring))
	case s.r.IntN(3) == 0:
		s.ports[0].p.lack(s.r.IntN(4))
		s.port().send(s.comes(while, s.bring), while)
	default:
		s.port().receive(s.comes(0, s.bring))
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
	for _, until := range s.due {
		require.False(s.t, !s.closes && time.Now().After(until), "it never comes")
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
