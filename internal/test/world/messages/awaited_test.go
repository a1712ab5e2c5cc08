package messages_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// framesOf returns how many frames one rank sends for so many messages of 1 MB.
func framesOf(t *testing.T, messages int, exchange func(ctx context.Context, from, to *strand.Comm, data, buf []byte)) uint64 {
	w, ctx := world.Open(t, 2, strand.WithParam("btl", "tcp,self")), world.Context(t)
	const n = 1 << 20
	sent := func() (frames uint64) {
		for _, r := range w[0].Rails() {
			frames += r.Counters.FramesSent
		}
		return frames
	}
	require.NoError(t, w[0].Comm().Send(ctx, nil, 1, 1))
	_, err := w[1].Comm().Recv(ctx, nil, 0, 1)
	require.NoError(t, err)
	before := sent()
	for i := range messages {
		data, buf := world.Pattern(n, i), make([]byte, n)
		exchange(ctx, w[0].Comm(), w[1].Comm(), data, buf)
		world.Equal(t, data, buf, "message %d", i)
	}
	return sent() - before
}

func isend(t *testing.T, c *strand.Comm, data []byte) strand.Request {
	out, err := c.Isend(data, 1, 1)
	require.NoError(t, err)
	return out
}

// A long message asks first, unless the receives were there before the last ones.
func TestLongMessagesToAReceiverThatWaits(t *testing.T) {
	const messages = 64
	waiting := framesOf(t, messages, func(ctx context.Context, from, to *strand.Comm, data, buf []byte) {
		in, err := to.Irecv(buf, 0, 1)
		require.NoError(t, err)
		out := isend(t, from, data)
		_, err = in.Wait(ctx)
		require.NoError(t, err)
		_, err = out.Wait(ctx)
		require.NoError(t, err)
	})
	late := framesOf(t, messages, func(ctx context.Context, from, to *strand.Comm, data, buf []byte) {
		out := isend(t, from, data)
		_, err := to.Probe(ctx, 0, 1)
		require.NoError(t, err)
		_, err = to.Recv(ctx, buf, 0, 1)
		require.NoError(t, err)
		_, err = out.Wait(ctx)
		require.NoError(t, err)
	})
	assert.Less(t, waiting, late, "frames")
	assert.GreaterOrEqual(t, late, uint64(2*messages), "each has asked")
	assert.Less(t, waiting, uint64(messages+messages/2), "few have asked")
}
