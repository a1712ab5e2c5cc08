package compare

import (
	"context"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/lab/workload"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/strandtest"
)

// Facts are of the world at hand. Few systems allow a gigabyte.
func TestFactsOfBuffers(t *testing.T) {
	fd, err := rawio.Stream(anyAddress)
	require.NoError(t, err)
	defer rawio.Close(fd)
	require.NoError(t, rawio.SetSendBuffer(fd, maxBuffer))
	got, err := rawio.SendBuffer(fd)
	require.NoError(t, err)
	strandtest.Run(t, 1, func(_ context.Context, w *strand.World) error {
		facts := factsOf(w, &workload.Outcome{Members: []workload.Member{{}}}, "udp")
		assert.Equal(t, got >= maxBuffer, facts[results.FactSendBuffer] == "1G", facts[results.FactSendBuffer])
		return nil
	}, strand.WithParam("btl", "udp,self"), strand.WithParam("btl_udp_sndbuf", "1G"))
}

// udp is Strand's own protocol over the kernel's datagrams.
func TestFactsOfStacks(t *testing.T) {
	strandtest.Run(t, 1, func(_ context.Context, w *strand.World) error {
		for _, c := range []struct{ transport, module, want string }{
			{"tcp", "tcp", "kernel"}, {"udp", "udp", "user space"}, {"sctp", "sctp/user", "user space"}, {"sctp", "sctp/kernel", "kernel"},
		} {
			own := workload.Member{Connections: []workload.Connection{{Peer: 1, Component: c.transport, Module: c.module}}}
			assert.Equal(t, c.want, factsOf(w, &workload.Outcome{Members: []workload.Member{own}}, c.transport)[results.FactStack], c.module)
		}
		return nil
	}, strand.WithParam("btl", "tcp,self"))
}

// What a socket has is what the system gave it, and not what was asked for.
func TestBuffersAreThoseThatTheSystemGives(t *testing.T) {
	asked := 0
	set := func(_, n int) error { asked = n; return nil }
	gives := func(most int) func(int) (int, error) {
		return func(int) (int, error) { return min(asked, most), nil }
	}
	assert.Equal(t, "208K, asked for 4M", bufferText("4M", set, gives(208<<10)))
	assert.Equal(t, "4M", bufferText("4M", set, gives(8<<20)))
	assert.Equal(t, "4M", bufferText("4M", set, gives(4<<20)))
	assert.Equal(t, "left to the stack", bufferText("0", set, gives(0)))
	assert.Equal(t, "many", bufferText("many", set, gives(0)))
}
