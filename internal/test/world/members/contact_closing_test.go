package members_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/internal/test/world"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml"
	"github.com/strandmp/strand/strandtest"
)

// layersOver opens the message layers of a job over a transport, and the communicator of all.
func layersOver(t *testing.T, n int, transport string) ([]*pml.PML, []*pml.Context) {
	registry := new(param.Registry)
	strand.Declare(registry, btl.Default)
	values, err := registry.Resolve(param.Inputs{})
	require.NoError(t, err)
	layers, contexts, opened := make([]*pml.PML, n), make([]*pml.Context, n), make(chan error, n)
	for i, job := range strandtest.NewJobs(n) {
		go func() {
			var err error
			layers[i], err = pml.Open(t.Context(), pml.Config{Job: job, Params: values,
				Components: []btl.Component{btl.Default.Lookup(transport)}, Engine: engine.Options{Tick: values.Duration("progress_tick")}})
			opened <- err
		}()
	}
	for range n {
		require.NoError(t, <-opened)
	}
	for i, layer := range layers {
		contexts[i], err = layer.NewContext(0, pml.ConsecutiveGroup(0, n), pml.Manner{})
		require.NoError(t, err)
	}
	return layers, contexts
}

// A rank closes its world, which lasts since another one does not answer: a message to it is not received, or its process is
// stopped. Who makes contact with the rank meanwhile hears that it has left.
func TestFirstContactWithWhoIsClosing(t *testing.T) {
	leak.Check(t)
	for _, transport := range []string{"tcp", "udp"} {
		for _, stopped := range []bool{false, true} {
			for name, do := range map[string]func(context.Context, *pml.Context) error{
				"send":    func(ctx context.Context, c *pml.Context) error { return c.Send(ctx, nil, nil, 2, 1, pml.Synchronous) },
				"receive": func(ctx context.Context, c *pml.Context) error { _, err := c.Recv(ctx, nil, nil, 2, 1); return err },
				"probe":   func(ctx context.Context, c *pml.Context) error { _, err := c.Probe(ctx, 2, 1); return err },
			} {
				t.Run(transport+", "+map[bool]string{false: "not received", true: "stopped"}[stopped]+", "+name, func(t *testing.T) {
					t.Parallel()
					ctx := world.Context(t)
					layers, contexts := layersOver(t, 3, transport)
					met := make(chan error, 1)
					go func() { met <- contexts[2].Send(ctx, nil, nil, 1, 1, pml.Synchronous) }()
					_, err := contexts[1].Recv(ctx, nil, nil, 2, 1)
					require.NoError(t, errors.Join(err, <-met))
					goOn, held := make(chan struct{}), make(chan struct{})
					if stopped {
						go layers[1].Locked(func() { close(held); <-goOn })
						<-held
					} else {
						_, err = contexts[2].Isend(make([]byte, 1<<20), nil, 1, 2, pml.Standard)
						require.NoError(t, err)
					}
					closed := make(chan error, 1)
					go func() { closed <- layers[2].Close(context.Background()) }()
					require.Eventually(t, func() bool {
						c := layers[2].Waits().Closing
						return c != nil && c.Goodbye == stopped
					}, time.Minute, time.Millisecond)
					ended := make(chan error, 1)
					go func() { ended <- do(ctx, contexts[0]) }()
					if !stopped {
						require.Eventually(t, func() bool { return layers[2].Reasons()[0] != nil }, time.Minute, time.Millisecond, "it is connected")
						_, err = contexts[1].Recv(ctx, make([]byte, 1<<20), nil, 2, 2)
						require.NoError(t, err)
					}
					err = <-ended
					assert.ErrorIs(t, err, pml.ErrPeerClosed)
					assert.NotErrorIs(t, err, pml.ErrPeerFailed)
					close(goOn)
					assert.NoError(t, <-closed)
					assert.NoError(t, layers[0].Close(ctx))
					assert.NoError(t, layers[1].Close(ctx))
				})
			}
		}
	}
}
