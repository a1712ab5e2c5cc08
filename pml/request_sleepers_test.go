package pml

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// Several goroutines wait for the same requests, alone and among others, and probe and test beside each other, while messages come, are taken by one of them, and
// are given back as contexts end. Nobody sleeps whose wait is over.
func TestNobodySleepsWhoseRequestIsOver(t *testing.T) {
	for seed := range need.Seeds(t, 60, 100_000) {
		synctest.Test(t, func(t *testing.T) {
			m := newTraffic(t, seed)
			m.Rand = rand.New(&shared{source: rand.NewPCG(seed, 0x5A4E)}) // both sides send at the same time
			s := &sleepers{traffic: m, r: rand.New(rand.NewPCG(seed, 0x51EE))}
			defer s.lock() // as it is when it is torn down
			s.unlock()
			for range 150 {
				s.step()
				synctest.Wait()
				s.check()
			}
			s.lock()
			for _, w := range s.open {
				w.end()
			}
			s.unlock()
			synctest.Wait()
			require.Empty(t, s.open)
		})
	}
}

// shared is a source of random numbers for several goroutines.
type shared struct {
	mu     sync.Mutex
	source rand.Source
}

func (s *shared) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.source.Uint64()
}

// sleepers are goroutines that wait at both sides of a traffic.
type sleepers struct {
	*traffic
	r    *rand.Rand
	reqs [2][]Request
	open []*sleeper
}

// sleeper is a wait of one of them.
type sleeper struct {
	what string
	over func() bool // the lock is held
	ctx  context.Context
	end  context.CancelFunc
}

func (s *sleepers) lock() {
	for _, side := range s.sides {
		side.pe.pml.engine.Lock()
	}
}

func (s *sleepers) unlock() {
	for _, side := range s.sides {
		side.pe.pml.engine.Unlock()
	}
}

// sleeps has a goroutine wait.
func (s *sleepers) sleeps(what string, over func() bool, wait func(ctx context.Context)) {
	ctx, end := context.WithCancel(s.t.Context())
	w := &sleeper{what, over, ctx, end}
	s.lock()
	s.open = append(s.open, w)
	s.unlock()
	go func() {
		defer end()
		wait(ctx)
		s.lock()
		s.open = slices.DeleteFunc(s.open, func(other *sleeper) bool { return other == w })
		s.unlock()
	}()
}

// check finds those that sleep though their wait is over. No goroutine can go on but by time.
func (s *sleepers) check() {
	s.lock()
	defer s.unlock()
	for _, w := range s.open {
		require.NoError(s.t, w.ctx.Err(), "%s sleeps", w.what)
		require.False(s.t, w.over(), "%s sleeps", w.what)
	}
}

// some are requests of a side.
func (s *sleepers) some(rank int) []Request {
	var some []Request
	for range 1 + s.r.IntN(3) {
		some = append(some, s.reqs[rank][s.r.IntN(len(s.reqs[rank]))])
	}
	return some
}

func (s *sleepers) step() {
	rank := s.r.IntN(2)
	c, tag, other := s.sides[rank].c, s.r.IntN(3), 1-rank
	what := s.r.IntN(16)
	if len(s.reqs[rank]) == 0 && what >= 3 && what < 9 {
		what = 1
	}
	source := []int{other, AnySource}[s.r.IntN(2)]
	switch what {
	case 0, 1:
		n := s.r.IntN(1 << s.r.IntN(18))
		if r, err := c.Isend(make([]byte, n), nil, other, tag, []Mode{Standard, Synchronous}[s.r.IntN(2)]); err == nil {
			s.reqs[rank] = append(s.reqs[rank], r)
		}
	case 2:
		if s.r.IntN(2) == 0 {
			tag = AnyTag
		}
		r, err := c.Irecv(make([]byte, 1<<18), nil, source, tag)
		require.NoError(s.t, err)
		s.reqs[rank] = append(s.reqs[rank], r)
	case 3, 4:
		r := s.some(rank)[0]
		s.sleeps("Wait", r.over, func(ctx context.Context) { _, _ = r.Wait(ctx) })
	case 5:
		some := s.some(rank)
		mine := append([]Request(nil), some...)
		s.sleeps("WaitAll", func() bool { return allOf(some) }, func(ctx context.Context) { _, _ = WaitAll(ctx, mine, nil) })
	case 6:
		some := s.some(rank)
		mine := append([]Request(nil), some...)
		one := func() bool { i, _ := c.pml.firstOver(some); return i >= 0 }
		if s.r.IntN(2) == 0 {
			s.sleeps("WaitAny", one, func(ctx context.Context) { _, _, _ = WaitAny(ctx, mine) })
		} else {
			s.sleeps("WaitSome", one, func(ctx context.Context) { _, _ = WaitSome(ctx, mine, nil) })
		}
	case 7:
		_, _, _ = s.some(rank)[0].Test()
	case 8:
		s.some(rank)[0].Cancel()
	case 9:
		s.probe(c, source, tag)
	case 10:
		s.sleeps("Recv", func() bool { return false }, func(ctx context.Context) { _, _ = c.Recv(ctx, make([]byte, 1<<18), nil, source, tag) })
	case 11:
		if n := len(s.open); n > 0 {
			s.open[s.r.IntN(n)].end()
		}
	case 12:
		<-time.After([]time.Duration{time.Microsecond, time.Millisecond, time.Second}[s.r.IntN(3)])
	default:
		s.lock()
		for range 1 + s.r.IntN(40) {
			s.happens()
		}
		s.unlock()
	}
}

func allOf(reqs []Request) bool {
	for _, r := range reqs {
		if !r.over() {
			return false
		}
	}
	return true
}

// probe waits for a message, and takes it or not.
func (s *sleepers) probe(c *Context, source, tag int) {
	world := int32(source) // as match.Any is AnySource
	there := func() bool { return c.find(world, tag) != nil }
	if s.r.IntN(2) == 0 {
		s.sleeps("Probe", there, func(ctx context.Context) { _, _ = c.Probe(ctx, source, tag) })
		return
	}
	s.sleeps("Mprobe", func() bool { return false }, func(ctx context.Context) {
		if m, err := c.Mprobe(ctx, source, tag); err == nil {
			_, _ = m.Recv(ctx, As{}, make([]byte, 1<<18), nil)
		}
	})
}
