package transfer

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/weather"
)

// Whatever the weather was over any path, and whoever has stood still: once all is good, all arrives within some times the longest
// wait between two probes, and some round trips.
func TestWhateverTheWeather(t *testing.T) {
	for seed := range need.Seeds(t, 100, 50_000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		paths := 1 + r.IntN(3)
		net := weather.New(seed, weather.Menu{Networks: paths, Spells: 1 + r.IntN(8), Span: time.Minute, Delay: time.Second, Sleeps: r.IntN(3)})
		var wires []wire
		for i := range paths {
			wires = append(wires, net.Alone(i))
		}
		most := 1 + r.IntN(1<<r.IntN(16))
		s := simulateOn(t, setup{
			config:     Config{Multipath: r.IntN(2) == 0, Delay: r.IntN(2) == 0, Outstanding: r.IntN(2) << r.IntN(20)},
			interleave: r.IntN(2) == 0, scheduler: []string{"", "rr", "prio", "wfq"}[r.IntN(4)],
			window: 4096 << r.IntN(8), below: uint32(r.IntN(200)), mostProbe: time.Second,
			size: func() int { return 1 + r.IntN(most) },
		}, wires...)
		s.awake = net.Awake
		for s.now < net.Calm() {
			if s.out.Queued() < 1<<14 {
				s.remaining += r.IntN(1 << r.IntN(4))
			}
			end := s.now + time.Duration(r.Int64N(int64(time.Second)))
			s.run(end)
			s.now = end
			s.revive(r.IntN(10) == 0)
		}
		left := s.inFlight + s.remaining + (s.out.Queued()+s.Outstanding())/1000 // each may take a round trip
		end := net.Last() + 4*s.setup.mostProbe + time.Duration(left+20)*(net.RoundTrip()+2*heldLong)
		for s.remaining > 0 || !s.Idle() {
			require.Less(t, s.now, end, "seed %d: %v", seed, s)
			s.run(s.now + time.Second)
			s.check(seed)
			s.revive(true)
		}
		require.Equal(t, s.pushed, s.got, "seed %d", seed)
	}
}

// revive has paths be found good, as heartbeats would.
func (s *simulation) revive(good bool) {
	for i := range s.ways {
		if good && s.State(i) == Suspect {
			s.SetState(int64(s.now), i, Active)
		}
	}
}
