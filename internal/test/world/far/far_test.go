package far_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/strandtest"
)

// A pair is two ranks.
type pair struct {
	*component
	layers   [2]*pml.PML
	contexts [2]*pml.Context
}

// between opens two ranks that a transport joins, within a bubble of virtual time.
func between(t *testing.T, k kind, l link, settings ...param.Setting) *pair {
	c := &component{kind: k, link: l}
	registry, transports := new(param.Registry), new(btl.Registry)
	transports.Register(c)
	strand.Declare(registry, transports)
	values, err := registry.Resolve(param.Inputs{Settings: settings})
	require.NoError(t, err)
	p := &pair{component: c}
	opened := make(chan error, 2)
	for i, job := range strandtest.NewJobs(2) {
		go func() {
			var err error
			p.layers[i], err = pml.Open(t.Context(), pml.Config{Job: job, Params: values,
				Components: []btl.Component{c}, Engine: engine.Options{Simulated: true, Tick: values.Duration("progress_tick")}})
			opened <- err
		}()
	}
	for range 2 {
		require.NoError(t, <-opened)
	}
	for i, layer := range p.layers {
		p.contexts[i], err = layer.NewContext(0, pml.ConsecutiveGroup(0, 2), pml.Manner{})
		require.NoError(t, err)
	}
	return p
}

func (p *pair) close(t *testing.T) {
	closed := make(chan error, 2)
	for _, l := range p.layers {
		go func() { closed <- l.Close(context.Background()) }()
	}
	for range 2 {
		require.NoError(t, <-closed)
	}
}

// A flow is messages of a size, so many of them, of which so many are under way as far as the program is concerned.
type flow struct{ size, window, n int }

// slide starts operations, as many at a time as the window says.
func (f flow) slide(ctx context.Context, start func() (pml.Request, error)) (err error) {
	requests := make([]pml.Request, f.window)
	for i := range f.n + f.window {
		r := &requests[i%f.window]
		if i >= f.window && i-f.window < f.n {
			if _, err := r.Wait(ctx); err != nil {
				return err
			}
		}
		if i < f.n {
			if *r, err = start(); err != nil {
				return err
			}
		}
	}
	return nil
}

const controlTag = 1

// run has one rank send a flow to the other one, and returns how long that takes until it has been told that all is there.
func (p *pair) run(t *testing.T, f flow) time.Duration {
	ctx, received := t.Context(), make(chan error, 1)
	go func() { received <- p.receive(ctx, f) }()
	c, buf := p.contexts[0], make([]byte, f.size)
	_, err := c.Recv(ctx, nil, nil, 1, controlTag)
	require.NoError(t, err)
	start := time.Now()
	require.NoError(t, f.slide(ctx, func() (pml.Request, error) { return c.Isend(buf, nil, 1, 0, pml.Standard) }))
	_, err = c.Recv(ctx, nil, nil, 1, controlTag)
	require.NoError(t, err)
	took := time.Since(start)
	require.NoError(t, <-received)
	return took
}

func (p *pair) receive(ctx context.Context, f flow) error {
	c, buf := p.contexts[1], make([]byte, f.size)
	err := c.Send(ctx, nil, nil, 0, controlTag, pml.Standard)
	if err == nil {
		err = f.slide(ctx, func() (pml.Request, error) { return c.Irecv(buf, nil, 0, 0) })
	}
	if err == nil {
		err = c.Send(ctx, nil, nil, 0, controlTag, pml.Standard)
	}
	return err
}

// needs is how long a link needs for a flow. A send of more than pml_copy_limit need not be complete before the peer has it.
func (l link) needs(f flow) time.Duration {
	each := float64(f.size+overhead) / l.rate
	took := float64(f.n)*each + float64(l.trip)
	if f.size > 64<<10 {
		took = max(took, float64(f.n)/float64(f.window)*(float64(l.trip)+each))
	}
	return time.Duration(took)
}

// part is what part of the link a flow has, of so many times what the link holds, or of so many messages.
func part(t *testing.T, k kind, l link, size, window, times, most int) (part float64) {
	synctest.Test(t, func(t *testing.T) {
		p := between(t, k, l)
		defer p.close(t)
		p.run(t, flow{64 << 10, 16, 64}) // what there is to know of the link and of the peer is known
		p.run(t, flow{4 << 20, 4, 8})
		f := flow{size, window, max(min(times*l.holds()/(size+overhead), most), 4*window, 8)}
		part = float64(l.needs(f)) / float64(p.run(t, f))
	})
	return part
}

const mbit = 1. / 8e3

// Sends of what is copied are complete at once, over transports too that hold what they have taken for a round trip.
func TestSendsThatAreCopiedFillAFarLink(t *testing.T) {
	l := link{100 * mbit, 40 * time.Millisecond}
	for _, k := range all {
		for _, size := range []int{4 << 10, 16 << 10, 17 << 10, 64 << 10} {
			assert.Greater(t, part(t, k, l, size, 1, 8, 1000), 0.95, "%s, %d bytes", k.name, size)
		}
	}
}

// What a peer may be sent unasked is enough for a link that holds 2 MB, and for what waits before it. Sends that have to ask take
// two round trips each.
func TestCreditFillsAFarLink(t *testing.T) {
	l := link{100 * mbit, 160 * time.Millisecond}
	for _, k := range all {
		for _, size := range []int{4 << 10, 64 << 10} {
			assert.Greater(t, part(t, k, l, size, 1, 8, 4500), 0.95, "%s, %d bytes", k.name, size)
		}
	}
}

// Short messages fill a link too, many as they are.
func TestShortMessagesFillAFarLink(t *testing.T) {
	l := link{100 * mbit, 40 * time.Millisecond}
	for _, k := range all {
		assert.Greater(t, part(t, k, l, 64, 4, 4, 20_000), 0.95, k.name)
	}
}

// Of longer messages, too, several are under way where the program sends one after the other, as far as there is room for copies.
// The part is that of sends that are complete when the peer has the message.
func TestSendsDoNotWaitForAFarPeer(t *testing.T) {
	l := link{100 * mbit, 160 * time.Millisecond}
	for _, k := range all {
		assert.Greater(t, part(t, k, l, 256<<10, 1, 8, 1000), 5., k.name)
		assert.Greater(t, part(t, k, l, 1<<20, 1, 8, 1000), 1.4, k.name)
	}
}

// A message that is copied goes in parts, as any other does, if no frame is as long.
func TestCopiesGoInPartsToo(t *testing.T) {
	for _, k := range all {
		synctest.Test(t, func(t *testing.T) {
			p := between(t, k, link{100 * mbit, 10 * time.Millisecond}, param.Setting{Name: "pml_copy_limit", Text: "1M"})
			defer p.close(t)
			p.run(t, flow{64 << 10, 16, 64})
			p.run(t, flow{1 << 20, 4, 8})
			assert.False(t, p.long.Load(), k.name)
		})
	}
}

// A sweep is of these sizes, at these distances in ms, with so many messages at a time, which have at least this part of the link.
type sweep struct {
	sizes, trips, windows []int
	least                 float64
}

// What part of a link messages of all sizes have, at all distances. The long form shows them: where it is little, decisions say why.
func TestSweep(t *testing.T) {
	s := sweep{[]int{4 << 10, 64 << 10}, []int{40}, []int{4}, 0.85}
	if need.Soaking() {
		s = sweep{[]int{1, 64, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20, 16 << 20}, []int{1, 10, 40, 100, 160}, []int{1, 4, 64}, 0.001}
	}
	for _, trip := range s.trips {
		for _, k := range all {
			l := link{100 * mbit, time.Duration(trip) * time.Millisecond}
			for _, window := range s.windows {
				line := ""
				for _, size := range s.sizes {
					if size*window > 256<<20 {
						continue
					}
					v := part(t, k, l, size, window, 8, 20_000)
					line += fmt.Sprintf(" %.2f", v)
					assert.GreaterOrEqual(t, v, s.least, "%v, %s, %d of %d bytes at a time", l.trip, k.name, window, size)
				}
				t.Logf("%v, %s, %d at a time:%s", l.trip, k.name, window, line)
			}
		}
	}
}
