//go:build linux

package accuracy

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/leak"
	"github.com/strandmp/strand/internal/testnet"
)

func TestMain(m *testing.M) { testnet.Main(m) }

// What a slow machine can not spoil: no frame is early, no more get through than the
// rate lets, and those are lost that the seed says.
func TestLinksDoWhatIsAsked(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	plan := Plan{
		Delays: []time.Duration{0, time.Millisecond, 20 * time.Millisecond}, Datagrams: 10,
		Rates: []emulate.Rate{10 * emulate.Mbit, 100 * emulate.Mbit}, Stretch: 300 * time.Millisecond,
		Losses: []float64{0, 0.01, 0.1}, Frames: 5000, Seed: 1,
	}
	var out strings.Builder
	require.NoError(t, WriteHead(&out))
	results := 0
	require.NoError(t, plan.Run(context.Background(), func(r Result) {
		results++
		require.NoError(t, r.WriteRow(&out))
		switch r.What {
		case Delay:
			assert.GreaterOrEqual(t, r.Low, r.Asked, "a frame is early")
		case Rate:
			// A machine that stood still while the queue filled has more to deliver
			// afterwards.
			assert.LessOrEqual(t, r.Got, r.Asked*2)
			assert.NotZero(t, r.Got)
		case Loss:
			assert.LessOrEqual(t, r.Low, r.Asked+float64(r.Wire.Wire.Spoilt())/float64(plan.Frames))
			assert.GreaterOrEqual(t, r.High, r.Asked)
		}
	}))
	t.Logf("\n%s", out.String())
	assert.Equal(t, len(plan.Delays)+len(plan.Rates)+len(plan.Losses), results)
}

func TestRunEndsWhenAsked(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	ctx, cancel := context.WithCancel(context.Background())
	err := Standard().Run(ctx, func(Result) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
}

func TestRowsReadWell(t *testing.T) {
	for want, r := range map[string]Result{
		"delay       5.000 ms      5.031 ms    +31 µs   5.020 ms – 5.080 ms ": {What: Delay, Asked: 5e-3, Got: 5.031e-3, Low: 5.02e-3, High: 5.08e-3},
		"rate    100.0 Mbit/s   99.8 Mbit/s    -0.2 %":                        {What: Rate, Asked: 1e8, Got: 9.98e7},
		"loss         1.000 %       1.012 %    +1.2 %   0.950 % – 1.080 % ":   {What: Loss, Asked: 0.01, Got: 0.01012, Low: 0.0095, High: 0.0108},
	} {
		var out strings.Builder
		require.NoError(t, r.WriteRow(&out))
		assert.Contains(t, out.String(), want)
	}
}

func TestInterval(t *testing.T) {
	low, high := interval(0.01, 100_000)
	assert.InDelta(t, 0.0094, low, 0.0001)
	assert.InDelta(t, 0.0106, high, 0.0001)
	low, high = interval(0, 1000)
	assert.Zero(t, low)
	assert.InDelta(t, 0.0038, high, 0.0001)
}
