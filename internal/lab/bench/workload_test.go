package bench

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOrderGoesThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := order{
			workload: rapid.SampledFrom([]Workload{PingPong, Stream, Rate, Burst}).Draw(t, "workload"),
			size:     rapid.IntRange(0, maxSize).Draw(t, "size"),
			iters:    rapid.IntRange(1, 1<<30).Draw(t, "iters"),
			warmup:   rapid.IntRange(0, 1<<30).Draw(t, "warmup"),
			window:   rapid.IntRange(1, MaxWindow).Draw(t, "window"),
			pause:    rapid.IntRange(0, maxPause).Draw(t, "pause"),
		}
		got, err := parseOrder(o.String() + "\n")
		require.NoError(t, err)
		assert.Equal(t, o, got)
	})
}

func TestBadOrders(t *testing.T) {
	for _, line := range []string{
		"", "\n", "pingpong", "pingpong 8", "pingpong 8 1 0 x 0", "walk 8 1 0 1 0", "pingpong -1 1 0 1 0",
		"pingpong 8 0 0 1 0", "pingpong 8 1 -1 1 0", "pingpong 8 1 0 0 0", "rate 8 1 0 65537 0", "pingpong 1073741825 1 0 1 0",
		"pingpong 99999999999999999999 1 0 1 0", "burst 8 1 0 1", "burst 8 1 0 1 -1", "burst 8 1 0 1 10000001",
	} {
		_, err := parseOrder(line)
		assert.ErrorContains(t, err, "order ", line)
	}
}

func FuzzParseOrder(f *testing.F) {
	f.Add("pingpong 8 1000 100 1 0\n")
	f.Add("rate 8 100 10 64 0\n")
	f.Add("burst 8 100 10 16 20000\n")
	f.Add("stream -8 1 1 1 0")
	f.Fuzz(func(t *testing.T, line string) {
		o, err := parseOrder(line)
		if err != nil {
			return
		}
		again, err := parseOrder(o.String())
		require.NoError(t, err)
		require.Equal(t, o, again)
	})
}

func TestTimeOfAMessage(t *testing.T) {
	assert.InDelta(t, 5, order{workload: PingPong, iters: 100, window: 1}.perMessage(time.Millisecond), 1e-9)
	assert.InDelta(t, 2.5, order{workload: Rate, iters: 10, window: 40}.perMessage(time.Millisecond), 1e-9)
	assert.InDelta(t, 10, order{workload: Stream, iters: 100, window: 1}.perMessage(time.Millisecond), 1e-9)
}

func TestBlocksAreShortAndNeverEmpty(t *testing.T) {
	for _, w := range []Workload{PingPong, Stream, Rate} {
		for _, size := range []int{0, 1, 8, 4096, 64 << 10, 1 << 20, 4 << 20, maxSize} {
			c := Comparison{Workload: w, Warmup: -1, Window: 64}
			o := c.order(size)
			assert.GreaterOrEqual(t, o.iters, 4, "%s %d", w, size)
			assert.LessOrEqual(t, o.iters, 512, "%s %d", w, size)
			assert.Greater(t, o.warmup, 1, "%s %d", w, size)
			assert.Equal(t, w == PingPong, o.window == 1)
		}
	}
	own := Comparison{Workload: PingPong, Iters: 7, Warmup: 0, Window: 1}
	assert.Equal(t, order{PingPong, 8, 7, 0, 1, 0}, own.order(8))
}

// A block of bursts is short whatever the pause, and a program that computes is not warmed up.
func TestBlocksOfBursts(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond, MaxPause} {
		c := Comparison{Workload: Burst, Warmup: -1, Window: 16, Pause: pause}
		o := c.order(64 << 10)
		assert.GreaterOrEqual(t, o.iters, 2, pause)
		assert.LessOrEqual(t, time.Duration(o.iters)*pause, max(100*time.Millisecond, 2*pause), pause)
		assert.Equal(t, 1, o.warmup)
		assert.Equal(t, int(pause.Microseconds()), o.pause)
	}
}

// What is computed, and how the two meet, does not count.
func TestOnlyTheExchangeOfABurstCounts(t *testing.T) {
	var steps []string
	o := order{workload: Burst, iters: 2, warmup: 1, window: 1, pause: 2000}
	s, err := o.rounds(
		func() error { steps = append(steps, "meet"); return nil },
		func() error { steps = append(steps, "exchange"); return nil })
	require.NoError(t, err)
	assert.Equal(t, []string{"meet", "exchange", "meet", "exchange", "meet", "exchange"}, steps)
	assert.GreaterOrEqual(t, s.computed, 4*time.Millisecond)
	assert.Less(t, s.exchange, s.computed)
	broken := errors.New("broken")
	_, err = o.rounds(func() error { return broken }, func() error { return nil })
	require.ErrorIs(t, err, broken)
	_, err = o.rounds(func() error { return nil }, func() error { return broken })
	require.ErrorIs(t, err, broken)
}
