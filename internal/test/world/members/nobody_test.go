package members_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// Calls with no process do nothing. But with a context that has ended, in a communicator that was freed, or in a world that was closed
// they are refused, as those with any other rank are: a loop whose neighbours are none ends too.
func TestProcNullWhereNothingIsLeft(t *testing.T) {
	w, ctx := world.Open(t, 1)[0], world.Context(t)
	c, err := w.Comm().Dup(ctx)
	require.NoError(t, err)
	persistent, err := c.SendInit(nil, strand.ProcNull, 1)
	require.NoError(t, err)
	view := strand.Vector[byte](2, 1, 2).Of(make([]byte, 3))
	views := map[string]func(ctx context.Context, c *strand.Comm, peer, tag int) error{
		"SendView": func(ctx context.Context, c *strand.Comm, peer, tag int) error {
			return c.SendView(ctx, view, peer, tag)
		},
		"IsendView": func(_ context.Context, c *strand.Comm, peer, tag int) error {
			_, err := c.IsendView(view, peer, tag)
			return err
		},
		"RecvView": func(ctx context.Context, c *strand.Comm, peer, tag int) error {
			_, err := c.RecvView(ctx, view, peer, tag)
			return err
		},
		"IrecvView": func(_ context.Context, c *strand.Comm, peer, tag int) error {
			_, err := c.IrecvView(view, peer, tag)
			return err
		},
		"SendrecvReplace": func(ctx context.Context, c *strand.Comm, peer, tag int) error {
			_, err := c.SendrecvReplace(ctx, make([]byte, 1), peer, tag, peer, tag)
			return err
		},
	}
	refused := func(want error) {
		t.Helper()
		for _, call := range calls {
			assert.ErrorIs(t, call.do(ctx, c, strand.ProcNull, 1), want, call.name)
		}
		for name, do := range views {
			assert.ErrorIs(t, do(ctx, c, strand.ProcNull, 1), want, name)
		}
		_, err := persistent.Start()
		assert.ErrorIs(t, err, want, "Persistent.Start")
	}
	message, err := c.Mprobe(ctx, strand.ProcNull, 1)
	require.NoError(t, err)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for _, call := range calls {
		if !strings.HasPrefix(strings.TrimPrefix(call.name, "generic "), "I") {
			assert.ErrorIs(t, call.do(ended, c, strand.ProcNull, 1), context.Canceled, call.name)
		}
	}
	require.NoError(t, c.Free())
	refused(strand.ErrFreed)
	require.NoError(t, w.Close())
	refused(strand.ErrClosed)
	_, err = message.Recv(ctx, nil)
	assert.ErrorIs(t, err, strand.ErrClosed, "Message.Recv")
}
