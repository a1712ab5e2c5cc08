//go:build linux

package accuracy

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/emulate/network"
	"github.com/strandmp/strand/internal/leak"
	"github.com/strandmp/strand/internal/need"
	"github.com/strandmp/strand/internal/testnet"
)

// The long form is that of docs/results/links.md. The short one shows that both links
// carry data and neither more than their rate.
func TestKernelContest(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	n, err := network.New(network.Config{Hosts: 1, Backend: network.Netem})
	if missing, ok := errors.AsType[*network.NetemError](err); ok {
		need.KernelNetem(t, missing)
	}
	require.NoError(t, err)
	_, err = n.Close()
	require.NoError(t, err)

	c := StandardContest()
	if !need.Soaking() {
		c.Losses, c.Runs, c.Warmup, c.Stretch = []float64{0.01}, 1, 200*time.Millisecond, time.Second
	}
	for _, loss := range c.Losses {
		t.Run(fmt.Sprintf("%g%%", loss*100), func(t *testing.T) {
			one := c
			one.Losses = []float64{loss}
			var out strings.Builder
			require.NoError(t, one.WriteHead(&out))
			require.NoError(t, one.Run(context.Background(), func(b Bout) {
				require.NoError(t, b.WriteRow(&out))
				for _, m := range []Mean{b.UserSpace, b.Netem} {
					assert.Positive(t, m.Value)
					assert.Equal(t, c.Runs, m.Runs)
				}
			}))
			t.Logf("\n%s", out.String())
		})
	}
}

func TestContestEndsWhenAsked(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	c := StandardContest()
	require.ErrorIs(t, c.Run(ctx, func(Bout) { assert.Fail(t, "nothing is to come") }), context.Canceled)
}

func TestBackendIsAsked(t *testing.T) {
	testnet.New(t) // or skip
	plan := Plan{Delays: []time.Duration{0}, Datagrams: 1, Backend: network.UserSpace}
	require.NoError(t, plan.Run(context.Background(), func(r Result) {
		assert.Equal(t, network.UserSpace, r.Wire.Backend)
	}))
	plan.Backend, plan.Delays = "", nil
	plan.Losses, plan.Frames = []float64{0.5}, 10
	require.NoError(t, plan.Run(context.Background(), func(r Result) { assert.NotEmpty(t, r.Wire.Backend) }))
}

func TestMean(t *testing.T) {
	// Student's own quantiles.
	for freedom, want := range map[float64]float64{3: 3.182, 5: 2.571, 9: 2.262, 11: 2.201, 30: 2.042} {
		assert.InEpsilon(t, want, student(freedom), 0.021, "%g", freedom)
	}
	assert.InEpsilon(t, 2.201, student(11), 0.001)
	m := meanOf([]float64{8, 12, 10, 10})
	half := student(3) * math.Sqrt(8.0/3/4)
	assert.Equal(t, 10.0, m.Value)
	assert.InDelta(t, 10-half, m.Low, 1e-9)
	assert.InDelta(t, 10+half, m.High, 1e-9)
	assert.True(t, math.IsInf(meanOf([]float64{1}).High, 1))
	assert.True(t, Bout{UserSpace: Mean{Low: 1, High: 2}, Netem: Mean{Low: 2, High: 3}}.Agree())
	assert.False(t, Bout{UserSpace: Mean{Low: 1, High: 2}, Netem: Mean{Low: 2.1, High: 3}}.Agree())
}

func TestBoutsReadWell(t *testing.T) {
	var out strings.Builder
	c := Contest{Link: emulate.Link{NIC: emulate.NIC{Rate: 50 * emulate.Mbit}, Path: emulate.Path{Delay: 10 * time.Millisecond}}, Congestion: "cubic"}
	require.NoError(t, c.WriteHead(&out))
	require.NoError(t, Bout{0.01, Mean{12e6, 11e6, 13e6, 10}, Mean{12.5e6, 11.5e6, 13.5e6, 10}}.WriteRow(&out))
	require.NoError(t, Bout{0.02, Mean{12e6, 11e6, 13e6, 10}, Mean{15e6, 14e6, 16e6, 10}}.WriteRow(&out))
	assert.Contains(t, out.String(), "TCP (cubic), 50mbit, 10ms one way, Mbit/s:")
	assert.Contains(t, out.String(), "1.0 %   12.00 (11.00 – 13.00)      12.50 (11.50 – 13.50)       0.96   yes\n")
	assert.Contains(t, out.String(), "0.80   no\n")
}
