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
		o := Order{
			Cell: Cell{
				Workload: rapid.SampledFrom([]Workload{PingPong, Stream, Rate, Burst, Pairs, Coll}).Draw(t, "workload"),
				Size:     rapid.IntRange(0, maxSize).Draw(t, "size"),
				Window:   rapid.IntRange(1, MaxWindow).Draw(t, "window"),
				Pause:    time.Duration(rapid.Int64Range(0, MaxPause.Microseconds()).Draw(t, "pause")) * time.Microsecond,
			},
			Iters:  rapid.IntRange(1, 1<<30).Draw(t, "iters"),
			Warmup: rapid.IntRange(0, 1<<30).Draw(t, "warmup"),
		}
		if o.Workload == Coll {
			o.Call = rapid.SampledFrom(calls).Draw(t, "call").name
		}
		got, err := parseOrder(o.String() + "\n")
		require.NoError(t, err)
		assert.Equal(t, o, got)
	})
}

func TestBadOrders(t *testing.T) {
	for _, line := range []string{
		"", "\n", "pingpong", "pingpong 8", "pingpong 8 1 0 x 0 -", "walk 8 1 0 1 0 -", "pingpong -1 1 0 1 0 -",
		"pingpong 8 0 0 1 0 -", "pingpong 8 1 -1 1 0 -", "pingpong 8 1 0 0 0 -", "rate 8 1 0 65537 0 -", "pingpong 1073741825 1 0 1 0 -",
		"pingpong 99999999999999999999 1 0 1 0 -", "burst 8 1 0 1", "burst 8 1 0 1 -1 -", "burst 8 1 0 1 10000001 -",
		"pingpong 8 1 0 1 0", "pingpong 8 1 0 1 0 bcast", "coll 8 1 0 1 0 -", "coll 8 1 0 1 0 brodcast",
	} {
		_, err := parseOrder(line)
		assert.ErrorContains(t, err, "order ", line)
	}
}

func FuzzParseOrder(f *testing.F) {
	f.Add("pingpong 8 1000 100 1 0 -\n")
	f.Add("rate 8 100 10 64 0 -\n")
	f.Add("burst 8 100 10 16 20000 -\n")
	f.Add("coll 8 100 10 1 0 bcast\n")
	f.Add("stream -8 1 1 1 0 -")
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

// What a process answers comes as it was.
func TestSpentGoesThere(t *testing.T) {
	want := spent{exchange: 3, began: 10, ended: 14, processor: 5}
	got, err := parseSpent(want.String() + "\n")
	require.NoError(t, err)
	assert.Equal(t, want, got)
	for _, line := range []string{"", "\n", "1\n", "0 1 2 3\n", "1 2 1 3\n", "1 1 2 -3\n", "1 1 2 x\n"} {
		_, err := parseSpent(line)
		assert.Error(t, err, line)
	}
}

// One pair's time is that of its first rank; several pairs have taken as long as it is from the
// first one's start to the last one's end.
func TestOutcome(t *testing.T) {
	a := spent{exchange: 10, began: 100, ended: 110, processor: 9}
	b := spent{exchange: 30, began: 105, ended: 135, processor: 8}
	late := spent{exchange: 1, began: 50, ended: 500, processor: 7}
	assert.Equal(t, Outcome{Took: 10, Processor: 16}, Order{}.outcome([]spent{a, late}))
	assert.Equal(t, Outcome{Took: 35, Processor: 31}, Order{}.outcome([]spent{a, b, late, late}), "who receives does not count")
	call := Order{Cell: Cell{Workload: Coll, Call: "bcast", Ranks: 2}}
	assert.Equal(t, Outcome{Took: 450, Processor: 16}, call.outcome([]spent{a, late}), "all take part")
}

func TestTimeOfAMessage(t *testing.T) {
	assert.InDelta(t, 5, Order{Cell: Cell{Workload: PingPong, Window: 1}, Iters: 100}.PerMessage(time.Millisecond), 1e-9)
	assert.InDelta(t, 2.5, Order{Cell: Cell{Workload: Rate, Window: 40}, Iters: 10}.PerMessage(time.Millisecond), 1e-9)
	assert.InDelta(t, 10, Order{Cell: Cell{Workload: Stream, Window: 1}, Iters: 100}.PerMessage(time.Millisecond), 1e-9)
	assert.InDelta(t, 2.5, Order{Cell: Cell{Workload: Pairs, Pairs: 4, Window: 1}, Iters: 100}.PerMessage(time.Millisecond), 1e-9)
}

func TestBlocksAreShortAndNeverEmpty(t *testing.T) {
	for _, w := range []Workload{PingPong, Stream, Rate, Pairs} {
		for _, size := range []int{0, 1, 8, 4096, 64 << 10, 1 << 20, 4 << 20, maxSize} {
			c := Cell{Workload: w, Pairs: 1, Window: 64, Size: size}
			if w == PingPong {
				c.Window = 1
			}
			o := c.Block()
			if size < longIteration {
				assert.GreaterOrEqual(t, o.Iters*o.Window, 4, "%s %d", w, size)
			}
			assert.Positive(t, o.Iters)
			assert.LessOrEqual(t, o.Iters, 512, "%s %d", w, size)
			assert.Positive(t, o.Warmup, "%s %d", w, size)
			if iteration := int64(size) * int64(c.Window); iteration <= 4<<20 {
				assert.LessOrEqual(t, int64(o.Iters)*iteration, int64(16<<20), "%s %d", w, size)
				assert.LessOrEqual(t, int64(o.Warmup)*iteration, int64(64<<20), "%s %d", w, size)
			} else if iteration > longIteration {
				assert.LessOrEqual(t, o.Warmup, 4, "%s %d", w, size)
			}
		}
	}
	for _, m := range calls {
		for _, size := range []int{0, 8, 64 << 10, maxSize} {
			o := Cell{Workload: Coll, Call: m.name, Ranks: 16, Window: 1, Size: size}.Block()
			assert.Positive(t, o.Iters, "%s %d", m.name, size)
			assert.LessOrEqual(t, o.Iters, 256, "%s %d", m.name, size)
		}
	}
	cell := Cell{Workload: PingPong, Pairs: 1, Window: 1, Size: 8}
	own := Comparison{Iters: 7, Warmup: 0}
	assert.Equal(t, Order{cell, 7, 0}, own.order(cell))
	own.Warmup = -1
	assert.Equal(t, Order{cell, 7, minWarmup}, own.order(cell))
}

// A block of bursts is short whatever the pause, and a program that computes is not warmed up.
func TestBlocksOfBursts(t *testing.T) {
	for _, pause := range []time.Duration{0, time.Millisecond, 20 * time.Millisecond, 200 * time.Millisecond, MaxPause} {
		o := Cell{Workload: Burst, Pairs: 1, Window: 16, Pause: pause, Size: 64 << 10}.Block()
		assert.GreaterOrEqual(t, o.Iters, 2, pause)
		assert.LessOrEqual(t, time.Duration(o.Iters)*pause, max(100*time.Millisecond, 2*pause), pause)
		assert.Equal(t, 1, o.Warmup)
		assert.Equal(t, pause, o.Pause)
	}
}

// What is computed, and how the two meet, does not count.
func TestOnlyTheExchangeOfABurstCounts(t *testing.T) {
	var steps []string
	o := Order{Cell: Cell{Workload: Burst, Window: 1, Pause: 2 * time.Millisecond}, Iters: 2, Warmup: 1}
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

// What people read of an order, when a process goes away in the middle of it, is not what processes do.
func TestOrderInWords(t *testing.T) {
	assert.Equal(t, "allreduce of 8 bytes on 4 ranks", Order{Cell: Cell{Workload: Coll, Call: "allreduce", Size: 8, Ranks: 4}, Iters: 10}.describe())
	assert.Equal(t, "pingpong of 64 bytes", Order{Cell: Cell{Workload: PingPong, Size: 64, Window: 1}, Iters: 10}.describe())
}
