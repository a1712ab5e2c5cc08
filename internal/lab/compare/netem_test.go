//go:build linux

package compare

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/testnet"
)

// What was found out of one link is not asked of the next one.
func TestKernelNetemIsNotForced(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	plain, bursts := emulate.Link{}, emulate.Link{Path: emulate.Path{Loss: emulate.Bursts(0.01, 8)}}
	ground, err := Emulate(t.Context(), [][]emulate.Network{{{Link: plain}}, {{Link: bursts}}}, emulate.DefaultMTU, "auto")
	require.NoError(t, err)
	assert.Equal(t, results.UserSpace, ground.Links().Kind)
}

// The kernel's own SCTP beside its TCP, over its own emulation: nothing of it is ours.
func TestKernelOverNetem(t *testing.T) {
	testnet.New(t) // or skip
	leak.Check(t)
	need.KernelSCTP(t)
	p := plan(t, "tcp,sctp(stack=kernel)", "farm(tasks=60,size=10000,fanout=3),pingpong(size=10000,rounds=10)", 0.05)
	p.Links[0].Rate, p.Links[0].Delay = 50*emulate.Mbit, time.Millisecond
	p.Ranks, p.Runs = 3, 1
	ground, err := Emulate(t.Context(), p.Wanted(), p.MTU, "netem")
	if missing, ok := errors.AsType[*network.NetemError](err); ok {
		need.KernelNetem(t, missing)
	}
	require.NoError(t, err)
	r, err := Run(t.Context(), config(t, p, ground, ""))
	require.NoError(t, err)
	assert.Equal(t, results.Links{Kind: results.Netem}, r.Links)
	for _, v := range r.Variants {
		require.Empty(t, v.Unable)
		assert.Equal(t, "kernel", v.Facts[results.FactStack])
	}
	require.Len(t, r.Cells, 2)
	for _, c := range r.Cells {
		require.Len(t, c.Runs, 2)
		for _, run := range c.Runs {
			require.Empty(t, run.Error)
			require.NotNil(t, run.Network)
			assert.Positive(t, run.Network.Delivered)
			require.NotEmpty(t, run.Rails)
		}
	}
	for _, run := range r.Cells[0].Runs {
		assert.GreaterOrEqual(t, run.Network.DeliveredBytes, uint64(60*10_000))
		assert.Positive(t, run.Network.Lost, "none of 500 frames or more: once in 10¹¹ times")
	}
}
