//go:build linux

package accuracy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
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
				for _, got := range [][]float64{b.UserSpace, b.Netem} {
					assert.Len(t, got, c.Runs)
					assert.Positive(t, slices.Min(got))
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

// Two intervals that overlap are no agreement: the interval of the ratio says how far apart the
// two may be.
func TestBoutsReadWell(t *testing.T) {
	var out strings.Builder
	c := Contest{Link: emulate.Link{NIC: emulate.NIC{Rate: 50 * emulate.Mbit}, Path: emulate.Path{Delay: 10 * time.Millisecond}}, Congestion: "cubic", Runs: 6}
	require.NoError(t, c.WriteHead(&out))
	netem := []float64{12e6, 11e6, 13e6, 10e6, 14e6, 12e6}
	var slower []float64
	for _, v := range netem {
		slower = append(slower, 0.8*v)
	}
	require.NoError(t, Bout{0.01, slower, netem}.WriteRow(&out))
	assert.Contains(t, out.String(), "TCP (cubic), 50mbit, 10ms one way, Mbit/s: medians of 6 runs; intervals at 97 %")
	assert.Contains(t, out.String(), "   1.0 %   9.60 (8.00 – 11.20)        12.00 (10.00 – 14.00)       0.80   0.80 – 0.80\n")
}
