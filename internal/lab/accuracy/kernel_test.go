//go:build linux

package accuracy

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// The long form is that of docs/results/links.md. The short one shows that both links carry data.
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

	c := standardContest()
	if !need.Soaking() {
		c.Losses, c.Runs, c.Warmup, c.Stretch = []float64{0.01}, 1, 200*time.Millisecond, time.Second
	}
	for _, loss := range c.Losses {
		t.Run(fmt.Sprintf("%g%%", loss*100), func(t *testing.T) {
			one := c
			one.Losses = []float64{loss}
			require.NoError(t, one.Run(func(b Bout) {
				t.Logf("TCP (%s), %v, %v one way: %v", c.Congestion, c.Link.Rate, c.Link.Delay, b)
				for _, got := range [][]float64{b.UserSpace, b.Netem} {
					assert.Len(t, got, c.Runs)
					assert.Positive(t, slices.Min(got))
				}
			}))
		})
	}
}
