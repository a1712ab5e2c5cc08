package transfer

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/internal/test/need"
)

var controllers = map[string]func(int) recovery.Controller{
	"reno":  func(packet int) recovery.Controller { return recovery.NewReno(packet) },
	"cubic": func(packet int) recovery.Controller { return recovery.NewCubic(packet) },
}

// A link is filled, and nothing is sent twice.
func TestLinkIsFilled(t *testing.T) {
	for name, control := range controllers {
		for _, c := range []struct {
			rate        emulate.Rate
			delay, time time.Duration
		}{
			{10 * emulate.Mbit, 5 * time.Millisecond, 4 * time.Second},
			{100 * emulate.Mbit, 10 * time.Millisecond, 2 * time.Second},
			{1000 * emulate.Mbit, 100 * time.Microsecond, 200 * time.Millisecond},
		} {
			s := simulate(t, setup{control: control, messages: endless, size: always(30_000), below: 1000},
				link(c.rate, c.delay, product(c.rate, c.delay), nil))
			share := s.steady(c.rate, c.time/2, c.time*time.Duration(need.Times(1, 10)))
			assert.Greater(t, share, 0.97, "%s, %v, %v: %v", name, c.rate, c.delay, s)
			assert.Zero(t, s.receiver.Duplicates, "%s, %v, %v: %v", name, c.rate, c.delay, s)
			assert.Zero(t, s.Path(0).Spurious, "%s, %v, %v: %v", name, c.rate, c.delay, s)
		}
	}
}

// Two links together carry what each carries alone.
func TestMultipath(t *testing.T) {
	for name, control := range controllers {
		for _, c := range []struct {
			rate  [2]emulate.Rate
			delay [2]time.Duration
			least float64
		}{
			{[2]emulate.Rate{100 * emulate.Mbit, 100 * emulate.Mbit}, [2]time.Duration{10 * time.Millisecond, 10 * time.Millisecond}, 0.95},
			{[2]emulate.Rate{100 * emulate.Mbit, 30 * emulate.Mbit}, [2]time.Duration{5 * time.Millisecond, 20 * time.Millisecond}, 0.9},
			{[2]emulate.Rate{20 * emulate.Mbit, 100 * emulate.Mbit}, [2]time.Duration{5 * time.Millisecond, 40 * time.Millisecond}, 0.9},
		} {
			sum, both, took := 0.0, []emulate.Config{}, time.Second*time.Duration(need.Times(1, 10))
			for i, rate := range c.rate {
				one := link(rate, c.delay[i], product(rate, c.delay[i]), nil)
				both = append(both, one)
				s := simulate(t, setup{control: control, messages: endless, size: always(30_000)}, one)
				sum += s.steady(rate, time.Second, took) * float64(rate)
			}
			s := simulate(t, setup{control: control, messages: endless, size: always(30_000), below: 5000, config: Config{Multipath: true}}, both...)
			share := s.steady(emulate.Rate(sum), time.Second, took)
			assert.Greater(t, share, c.least, "%s: %v", name, s)
			for i := range c.rate {
				assert.LessOrEqual(t, s.Path(i).Spurious, s.Path(i).Sent/1000, "%s: %v", name, s)
			}
		}
	}
}

// However long the queues are, and however slow one of two paths is beside the other, both together carry what each carries alone: a
// slow one with a long queue does not have the other wait until the queue has drained.
func TestUnequalPathsWithLongQueues(t *testing.T) {
	queues, delays, seconds := []int{250, 1000}, []time.Duration{40 * time.Millisecond}, []emulate.Rate{40, 10}
	if need.Soaking() {
		queues, delays, seconds = []int{100, 250, 500, 1000, 2000}, []time.Duration{time.Millisecond, 10 * time.Millisecond, 20 * time.Millisecond, 40 * time.Millisecond}, []emulate.Rate{100, 70, 40, 20, 10, 5}
	}
	const span = 4 * time.Second
	for _, queue := range queues {
		for _, delay := range delays {
			for _, second := range seconds {
				sum, both := 0.0, []emulate.Config{}
				for _, rate := range []emulate.Rate{100 * emulate.Mbit, second * emulate.Mbit} {
					one := link(rate, delay, queue*onTheWire, nil)
					both = append(both, one)
					s := simulate(t, setup{messages: endless, size: always(64_000)}, one)
					sum += s.steady(rate, time.Second, span) * float64(rate)
				}
				s := simulate(t, setup{messages: endless, size: always(64_000), config: Config{Multipath: true}}, both...)
				share := s.steady(emulate.Rate(sum), time.Second, span)
				assert.Greater(t, share, 0.9, "queues of %d packets, %v, 100 and %d Mbit/s: %v", queue, delay, second, s)
			}
		}
	}
}

// With loss each path carries what the response function of Reno says at least, as in package recovery, and
// hardly anything is sent again without need.
func TestLoss(t *testing.T) {
	const rate, delay, span = 100 * emulate.Mbit, 10 * time.Millisecond, 5 * time.Second
	for _, multipath := range []bool{false, true} {
		for _, loss := range []float64{0.001, 0.01, 0.05, 0.1} {
			runs, paths := 1+int(200*loss), 1.0 // with much loss there are few packets in a run
			if multipath {
				paths = 2
			}
			goodput, duplicates, sent := 0, uint64(0), uint64(0)
			for run := range runs {
				one := link(rate, delay, product(rate, delay), func(p *emulate.Path) { p.Loss = emulate.Independent(loss) })
				one.Seed += 2 * uint64(run)
				other := one
				other.Seed++
				s := simulate(t, setup{messages: endless, size: always(30_000), config: Config{Multipath: multipath}}, one, other)
				s.run(span)
				assert.Less(t, s.stall, time.Second, "%v: %v", loss, s)
				goodput, duplicates, sent = goodput+s.goodput, duplicates+s.receiver.Duplicates, sent+s.Path(0).Sent+s.Path(1).Sent
			}
			packets := float64(goodput) / packetSize / float64(runs) * float64(2*delay) / float64(span)
			assert.Greater(t, packets, paths*0.75*1.22/math.Sqrt(loss), "%v", loss)
			assert.LessOrEqual(t, duplicates, sent/100, "%v", loss)
		}
	}
}

// A path that dies takes nothing with it. What goes on does so within two probes.
func TestPathDies(t *testing.T) {
	const rate, delay = 100 * emulate.Mbit, 10 * time.Millisecond
	for _, multipath := range []bool{false, true} {
		dying := link(rate, delay, product(rate, delay), nil)
		dying.Down = emulate.Schedule{Outages: []emulate.Outage{{At: time.Second, For: time.Hour}}}
		s := simulate(t, setup{messages: 4000, size: always(10_000), config: Config{Multipath: multipath}}, dying, link(rate, delay, product(rate, delay), nil))
		s.run(time.Minute)
		assert.True(t, s.Idle(), "%v", s)
		assert.Zero(t, s.inFlight)
		assert.Equal(t, Suspect, s.State(0), "%v", s)
		assert.Less(t, s.stall, 500*time.Millisecond, "%v", s)
		assert.Less(t, s.now, 8*time.Second, "%v", s)
	}
}

// A path that is suspected and answers again is used again.
func TestPathComesBack(t *testing.T) {
	const rate, delay = 100 * emulate.Mbit, 10 * time.Millisecond
	away := link(rate, delay, product(rate, delay), nil)
	away.Down = emulate.Schedule{Outages: []emulate.Outage{{At: time.Second, For: time.Second}}}
	s := simulate(t, setup{messages: endless, size: always(10_000)}, away, link(rate, delay, product(rate, delay), nil))
	s.run(3 * time.Second)
	require.Equal(t, Suspect, s.State(0), "%v", s)
	s.SetState(int64(s.now), 0, Active) // a heartbeat was answered
	before, sent := s.goodput, s.Path(1).Sent
	s.run(5 * time.Second)
	assert.Greater(t, s.share(rate, before, 3*time.Second), 0.7, "%v", s)
	assert.Equal(t, sent, s.Path(1).Sent, "the primary path is used again: %v", s)
}

// The last chunks, with nothing behind them to show that they are lost, are brought back by probes that carry
// them: within some round trips.
func TestTail(t *testing.T) {
	for seed := range uint64(100) {
		c := link(100*emulate.Mbit, 10*time.Millisecond, 1<<20, func(p *emulate.Path) { p.Loss = emulate.Independent(0.1) })
		c.Seed = seed
		s := simulate(t, setup{messages: 6, size: always(5000), below: 3}, c)
		s.run(time.Minute)
		require.True(t, s.Idle(), "seed %d: %v", seed, s)
		require.Less(t, s.now, 5*time.Second, "seed %d: %v", seed, s)
	}
}

// Answers to probes come at once, others are held back. So a quick one says nothing of the packet before, and
// the round trip stays what it is.
func TestHeldBack(t *testing.T) {
	const delay = time.Millisecond
	c := link(100*emulate.Mbit, delay, 1<<20, func(p *emulate.Path) { p.Loss = emulate.Independent(0.3) })
	s := simulate(t, setup{messages: 300, size: always(500), config: Config{Outstanding: 500}}, c)
	s.run(time.Hour)
	assert.True(t, s.Idle(), "%v", s)
	assert.Less(t, s.Path(0).Smoothed, int64(2*delay+2*heldLong), "%v", s)
}

// Whatever networks do, all is delivered, once and in order, and confirmed.
func TestWhateverTheNetworkDoes(t *testing.T) {
	for seed := range need.Seeds(t, 100, 50_000) {
		r := rand.New(rand.NewPCG(seed, 0x5C79))
		var nets []emulate.Config
		for range 1 + r.IntN(3) {
			rate := emulate.Mbit << r.IntN(11)
			delay := time.Duration(1+r.IntN(1<<r.IntN(17))) * time.Microsecond
			c := link(rate, delay, onTheWire<<r.IntN(10), func(p *emulate.Path) {
				p.Loss = emulate.Independent(r.Float64() * 0.3 * float64(r.IntN(2)))
				p.Jitter = time.Duration(r.Int64N(int64(delay)) * int64(r.IntN(2)))
				p.Reorder, p.ReorderBy = r.Float64()*float64(r.IntN(2)), time.Duration(1+r.Int64N(int64(4*delay)))
				p.Duplicate = r.Float64() * float64(r.IntN(2))
			})
			c.Seed = r.Uint64()
			nets = append(nets, c)
		}
		most, delay := 1+r.IntN(1<<r.IntN(16)), r.IntN(2) == 0
		messages := min((1<<18)/most, 2000)
		if delay { // each may take a round trip
			messages = min(messages, 100)
		}
		s := simulate(t, setup{
			config:     Config{Multipath: r.IntN(2) == 0, Delay: delay, Outstanding: r.IntN(2) << r.IntN(20)},
			interleave: r.IntN(2) == 0, scheduler: []string{"", "rr", "prio", "wfq"}[r.IntN(4)],
			window: 4096 << r.IntN(8), below: uint32(r.IntN(200)),
			messages: 1 + r.IntN(messages+1), size: func() int { return 1 + r.IntN(most) },
		}, nets...)
		for !s.Idle() || s.remaining > 0 {
			s.run(s.now + time.Second)
			s.check(seed)
			require.Less(t, s.now, 24*time.Hour, "seed %d: %v", seed, s)
			for i := range s.ways { // as heartbeats would find out
				if s.State(i) == Suspect {
					s.SetState(int64(s.now), i, Active)
				}
			}
		}
		require.Zero(t, s.inFlight, "seed %d", seed)
		require.Equal(t, s.pushed, s.got, "seed %d", seed)
	}
}

// check compares what is kept with what it is a sum of.
func (s *simulation) check(seed uint64) {
	bytes, lostBytes, wrong := 0, 0, 0
	for n := s.base; n < s.next; n++ {
		c := s.at(n)
		if c.fate != arrived {
			bytes += int(c.fragment.Length)
		}
		if c.fate == lost {
			lostBytes += int(c.fragment.Length)
		}
		if c.fate == left || c.fate == lost && !c.queued {
			wrong++
		}
	}
	require.Equal(s.t, []int{bytes, lostBytes, 0}, []int{s.bytes, s.lostBytes, wrong}, "seed %d", seed)
	require.LessOrEqual(s.t, s.in.Held(), 2*s.window, "seed %d", seed)
}
