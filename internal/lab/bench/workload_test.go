package bench

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestOrderGoesThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := order{
			workload: rapid.SampledFrom([]Workload{PingPong, Stream, Rate}).Draw(t, "workload"),
			size:     rapid.IntRange(0, maxSize).Draw(t, "size"),
			iters:    rapid.IntRange(1, 1<<30).Draw(t, "iters"),
			warmup:   rapid.IntRange(0, 1<<30).Draw(t, "warmup"),
			window:   rapid.IntRange(1, MaxWindow).Draw(t, "window"),
		}
		got, err := parseOrder(o.String() + "\n")
		require.NoError(t, err)
		assert.Equal(t, o, got)
	})
}

func TestBadOrders(t *testing.T) {
	for _, line := range []string{
		"", "\n", "pingpong", "pingpong 8", "pingpong 8 1 0 x", "walk 8 1 0 1", "pingpong -1 1 0 1",
		"pingpong 8 0 0 1", "pingpong 8 1 -1 1", "pingpong 8 1 0 0", "rate 8 1 0 65537", "pingpong 1073741825 1 0 1",
		"pingpong 99999999999999999999 1 0 1",
	} {
		_, err := parseOrder(line)
		assert.ErrorContains(t, err, "order ", line)
	}
}

func FuzzParseOrder(f *testing.F) {
	f.Add("pingpong 8 1000 100 1\n")
	f.Add("rate 8 100 10 64\n")
	f.Add("stream -8 1 1 1")
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
	assert.Equal(t, order{PingPong, 8, 7, 0, 1}, own.order(8))
}
