package programs

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/strandmp/strand/internal/test/chaos"
)

// A storm has the networks of a session fail and come back, one at a time. In some sessions
// one never comes back.
type storm struct {
	early bool // from the start; else from when the ranks know each other
	late  bool // until all worlds are closed; else until the ranks begin to part
}

func (s *storm) String() string {
	if s == nil {
		return ""
	}
	return fmt.Sprintf(", a storm (from the start: %v, to the end: %v)", s.early, s.late)
}

func (s *Session) drawStorm(r *rand.Rand) {
	if len(s.setup.Stormy) > 0 && len(s.setup.Stormy)+s.setup.Steady > 1 {
		s.storm = &storm{early: s.setup.EarlyStorms && r.IntN(3) == 0, late: r.IntN(2) == 0}
	}
}

// rage begins the storm. It ends when it is told to.
func (s *Session) rage(ctx context.Context, met *sync.WaitGroup) (calm func()) {
	if s.storm == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if s.storm.early || waitFor(ctx, met) {
			s.blow(ctx)
		}
	}()
	return func() {
		cancel()
		<-over
	}
}

// waitFor waits for a group, and reports whether the context has not ended before.
func waitFor(ctx context.Context, group *sync.WaitGroup) bool {
	all := make(chan struct{})
	go func() {
		group.Wait()
		close(all)
	}()
	select {
	case <-all:
		return true
	case <-ctx.Done():
		return false
	}
}

// respite is how long a network works before it fails again if no other one is left. One that
// works for hardly any time carries nothing, and then its peers have failed (see package
// rails).
const respite = 3 * time.Second

func (s *Session) blow(ctx context.Context) {
	r := rand.New(rand.NewPCG(s.Seed, 0x5704))
	networks, lasting := s.setup.Stormy, r.IntN(3) == 0
	for ctx.Err() == nil && len(networks) > 0 {
		pause(ctx, time.Duration(r.IntN(pick(r, 300, 3000, 20_000)))*time.Microsecond)
		if len(networks)+s.setup.Steady == 1 {
			pause(ctx, respite)
		}
		i := r.IntN(len(networks))
		n := networks[i]
		n.SetWeather(pick(r, chaos.Down, chaos.Silent, chaos.Gone))
		if lasting && len(networks)+s.setup.Steady > 1 && r.IntN(8) == 0 {
			networks = slices.Delete(slices.Clone(networks), i, i+1)
			continue // the others have to do
		}
		pause(ctx, time.Duration(r.IntN(pick(r, 1000, 1000, 20_000, 20_000, 300_000)))*time.Microsecond)
		n.SetWeather(chaos.Fair)
	}
}
