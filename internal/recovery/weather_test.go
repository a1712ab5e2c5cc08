package recovery

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/weather"
)

// Whatever the weather was, and whoever has stood still: once all is good, all arrives within some times the longest wait between
// two probes, and some round trips.
func TestWhateverTheWeather(t *testing.T) {
	for seed := range need.Seeds(t, 200, 50_000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		net := weather.New(seed, weather.Menu{Spells: 1 + r.IntN(8), Span: time.Minute, Delay: time.Second, Sleeps: r.IntN(3)})
		s := simulateOn(t, net)
		s.awake = net.Awake
		f := s.add([]Controller{NewReno(packetSize), NewCubic(packetSize)}[r.IntN(2)], 0)
		f.config.MostProbe = time.Second
		for s.now < net.Calm() {
			if f.left+len(f.again)+len(f.paused) < 30 {
				f.left += r.IntN(1 << r.IntN(6))
			}
			end := s.now + time.Duration(r.Int64N(int64(time.Second)))
			s.run(end)
			s.now = end
		}
		all := f.left + len(f.things)
		s.run(net.Calm() + time.Hour)
		require.Equal(t, all, f.goodput, "seed %d: %v", seed, f)
		require.Less(t, s.now-net.Last(), 4*f.config.MostProbe+20*net.RoundTrip(), "seed %d: %v", seed, f)
	}
}

// Who was stopped finds answers that have waited. They tell nothing of the path.
func TestAwake(t *testing.T) {
	for _, probed := range []bool{false, true} {
		p, got := sent(1)
		p.acknowledge(t, ms, got, Range{0, 0})
		p.Send(2*ms, 1000, 0, 1)
		now := int64(time.Minute)
		if probed {
			require.True(t, p.Tick(now, got))
			p.Send(now, 1000, 0, 2)
		}
		p.acknowledge(t, now, got, Range{1, 1})
		assert.Less(t, p.Smoothed, 10*ms)
		assert.Less(t, p.patience(), 100*ms)
	}
}

// One answer that took a minute, as where the peer was stopped, has nothing wait for minutes.
func TestAnAnswerThatTookAMinute(t *testing.T) {
	p, got := sent(1)
	p.config.MostProbe = time.Second
	now := int64(time.Minute)
	p.sentAt = now // probes were sent all the time
	p.acknowledge(t, now, got, Range{0, 0})
	require.Equal(t, now, p.Smoothed)
	for n := 1; n < 5; n++ {
		p.Send(now, packetSize, 0, n)
	}
	p.Room(now, packetSize)
	p.pacer.bytes = 0
	assert.Less(t, p.Free()-now, int64(time.Second), "the next packet")
	p.acknowledge(t, now+ms, got, Range{2, 2})
	assert.LessOrEqual(t, p.At()-now, int64(time.Second), "when the packet before is lost")
}
