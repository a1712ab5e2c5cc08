package messages_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/test/world"
)

// Tags go over the connections that their lanes belong to, in both directions: also from
// the side that has not made the connections.
func TestTagsAreSpreadOverParallelConnections(t *testing.T) {
	const links, tags = 4, 64
	w, ctx := world.Open(t, 2, strand.WithParam("btl", "tcp,self"), strand.WithParam("btl_tcp_links", "4")), world.Context(t)
	round := func(from, to int) {
		for tag := range tags {
			data, buf := world.Pattern(8+tag, tag), make([]byte, 8+tag)
			out, err := w[from].Comm().Isend(data, to, tag)
			require.NoError(t, err)
			_, err = w[to].Comm().Recv(ctx, buf, from, tag)
			require.NoError(t, err)
			_, err = out.Wait(ctx)
			require.NoError(t, err)
			world.Equal(t, data, buf, "tag %d", tag)
		}
	}
	used := func(rank int) (used int) {
		for _, r := range w[rank].Rails() {
			if r.Peer != rank && r.Traffic.Sent > 0 {
				used++
			}
		}
		return used
	}
	// The others connect after the first has.
	for used(0) < links || used(1) < links {
		round(0, 1)
		round(1, 0)
		if ctx.Err() != nil {
			break
		}
	}
	assert.Equal(t, links, used(0))
	assert.Equal(t, links, used(1))
}
