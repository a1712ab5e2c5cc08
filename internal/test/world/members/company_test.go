package members_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/chaos"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/strandtest"
)

// party is the message layers of a job over a transport of the process's own, in virtual
// time.
type party struct {
	*rand.Rand
	t        *testing.T
	layers   []*pml.PML
	contexts []*pml.Context
	open     []bool
}

func newParty(t *testing.T, seed uint64) *party {
	p := &party{Rand: rand.New(rand.NewPCG(seed, 0xC0)), t: t}
	n := 3 + p.IntN(6)
	config := chaos.Random(seed)
	config.Cut = 0 // a connection that breaks while its peer leaves is another matter
	registry, transports := new(param.Registry), new(btl.Registry)
	transport := chaos.New(config)
	transports.Register(transport)
	strand.Declare(registry, transports)
	values, err := registry.Resolve(param.Inputs{})
	require.NoError(t, err)
	p.layers, p.contexts, p.open = make([]*pml.PML, n), make([]*pml.Context, n), make([]bool, n)
	opened := make(chan error, n)
	for i, job := range strandtest.NewJobs(n) {
		go func() {
			var err error
			p.layers[i], err = pml.Open(t.Context(), pml.Config{Job: job, Params: values,
				Components: []btl.Component{transport}, Engine: engine.Options{Simulated: true, Tick: values.Duration("progress_tick")}})
			opened <- err
		}()
	}
	for range n {
		require.NoError(t, <-opened)
	}
	for i, layer := range p.layers {
		p.contexts[i], err = layer.NewContext(0, pml.ConsecutiveGroup(0, n), pml.Manner{})
		require.NoError(t, err)
		p.open[i] = true
	}
	return p
}

// pause lets some virtual time pass.
func (p *party) pause() { <-time.After(time.Duration(p.IntN(3000)) * time.Millisecond) }

func (p *party) leave(rank int) {
	if p.open[rank] {
		p.open[rank] = false
		require.NoError(p.t, p.layers[rank].Close(context.Background()))
	}
}

// contacts are the ranks that rank 0 has made contact with, or they with it.
func (p *party) contacts() (ranks []int) {
	for rank := range p.layers[0].Reasons() {
		ranks = append(ranks, rank)
	}
	slices.Sort(ranks)
	return ranks
}

// Some members are met, others are not; they leave in any order, some early, some late, and
// some send before that. Whoever waits for a message from any source gets all of them, and
// then hears that nobody is left. As long as one that was met is there no other one is
// contacted for it.
func TestWhoWaitsForAnybodyFindsOutWhoHasLeft(t *testing.T) {
	for seed := range need.Seeds(t, 60, 20_000) {
		synctest.Test(t, func(t *testing.T) {
			t.Log("seed", seed)
			attend(newParty(t, seed))
		})
		if t.Failed() {
			return
		}
	}
}

// Over TCP, by a process that has met nobody.
func TestWhoHasMetNobodyFindsOutThatAllHaveLeft(t *testing.T) {
	for _, n := range []int{3, 8} {
		w, ctx := world.Open(t, n, strand.WithParam("pml_peer_timeout", "100ms")), world.Context(t)
		world.Close(t, w[1:]...)
		_, err := w[0].Comm().Recv(ctx, nil, strand.AnySource, 1)
		require.ErrorIs(t, err, strand.ErrPeerClosed)
		require.Len(t, w[0].Reasons(), n-1)
	}
}

func attend(p *party) {
	t, ctx := p.t, p.t.Context()
	const early, late = 1, 2
	others := p.Perm(len(p.layers) - 1)
	for i := range others {
		others[i]++
	}
	met, strangers := others[:p.IntN(len(others)+1)], []int(nil)
	strangers = others[len(met):]
	for _, rank := range met {
		require.NoError(t, p.contexts[rank].Send(ctx, nil, nil, 0, early, pml.Standard))
		_, err := p.contexts[0].Recv(ctx, nil, nil, rank, early)
		require.NoError(t, err)
	}
	expected := 0
	ended, got := make(chan error, 1), 0
	wait := []func() error{
		func() error { _, err := p.contexts[0].Recv(ctx, nil, nil, pml.AnySource, late); return err },
		func() error {
			m, err := p.contexts[0].Mprobe(ctx, pml.AnySource, late)
			if err == nil {
				_, err = m.Recv(ctx, pml.As{}, nil, nil)
			}
			return err
		},
		func() error {
			r, err := p.contexts[0].Irecv(nil, nil, pml.AnySource, late)
			if err == nil {
				_, err = r.Wait(ctx)
			}
			return err
		},
	}[p.IntN(3)]
	go func() {
		for {
			if err := wait(); err != nil {
				ended <- err
				return
			}
			got++
		}
	}()
	// Strangers that leave do so before all that were met, or after some.
	for _, rank := range strangers {
		if p.IntN(3) > 0 {
			p.leave(rank)
		}
	}
	p.pause()
	synctest.Wait()
	contacted := p.contacts()
	for i, rank := range met {
		if p.pause(); p.IntN(2) == 0 {
			require.NoError(t, p.contexts[rank].Send(ctx, nil, nil, 0, late, pml.Standard))
			expected++
		}
		if len(met) > 0 {
			assert.Equal(t, contacted, p.contacts(), "one that was met is there")
		}
		p.leave(met[i])
	}
	for _, rank := range strangers {
		if !p.open[rank] {
			continue
		}
		<-time.After(time.Duration(p.IntN(90)) * time.Second)
		require.NoError(t, p.contexts[rank].Send(ctx, nil, nil, 0, late, pml.Standard), "it lives, and is no worse for having been sought")
		expected++
		p.leave(rank)
	}
	select {
	case err := <-ended:
		require.ErrorIs(t, err, pml.ErrPeerClosed)
	case <-time.After(time.Hour):
		t.Error("it waits for ever")
	}
	assert.Equal(t, expected, got)
	p.leave(0)
}
