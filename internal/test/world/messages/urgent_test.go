package messages_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// urgentRails are the connections of a rank for urgent messages.
func urgentRails(w *strand.World) (all []strand.RailReport) {
	for _, r := range w.Rails() {
		if strings.Contains(r.Desc, "urgent") {
			all = append(all, r)
		}
	}
	return all
}

// Over TCP urgent messages get a connection of their own, whichever side is first or both at once.
// It is not made before somebody sends one, also if there is an urgent communicator.
func TestUrgentMessagesHaveTheirConnection(t *testing.T) {
	w, ctx := world.Open(t, 2, strand.WithParam("btl", "tcp,self")), world.Context(t)
	var urgent [2]*strand.Comm
	made := make(chan error, 2)
	for i := range urgent {
		go func() {
			var err error
			urgent[i], err = w[i].Comm().DupWith(ctx, strand.Urgent, strand.Relaxed)
			made <- err
		}()
	}
	require.NoError(t, <-made)
	require.NoError(t, <-made)
	pass := func(c []*strand.Comm, from, size int) {
		data, buf := world.Pattern(size, from), make([]byte, size)
		out, err := c[from].Isend(data, 1-from, 5)
		require.NoError(t, err)
		_, err = c[1-from].Recv(ctx, buf, from, 5)
		require.NoError(t, err)
		_, err = out.Wait(ctx)
		require.NoError(t, err)
		world.Equal(t, data, buf, "%d bytes", size)
	}
	for from := range w {
		pass([]*strand.Comm{w[0].Comm(), w[1].Comm()}, from, 1<<20)
		assert.Empty(t, urgentRails(w[from]))
	}
	used := func(rank int) bool {
		all := urgentRails(w[rank])
		return len(all) == 1 && all[0].Up && all[0].Traffic.Sent > 0
	}
	for (!used(0) || !used(1)) && ctx.Err() == nil {
		for from := range w {
			pass(urgent[:], from, 8)
			pass(urgent[:], from, 3<<20)
		}
	}
	for rank := range w {
		assert.True(t, used(rank), "%+v", urgentRails(w[rank]))
		assert.Len(t, w[rank].Rails(), 2)
	}
}
