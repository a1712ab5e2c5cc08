package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
)

// An endpoint knows its path, whoever has made the connection; one that the peer has
// made does so when the host is told of it.
func TestPathOfEndpoint(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	var told btl.Path
	b.onAccept = func(p *peer) { told = p.ep.Path() }
	b.do(func() { b.mod.side.Addresses[0].Speed = 2500 })
	x := a.reach(b)
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
	paths, err := a.mod.Reach(btl.Peer{Rank: 1, Address: b.mod.Address()})
	require.NoError(t, err)
	require.Equal(t, paths[0], x.ep.Path())
	require.Equal(t, 2500, told.Bandwidth)
	require.Equal(t, loopbackLatency, told.Latency)
	require.Equal(t, 0, told.Index)
	require.Equal(t, b.accepted[0].ep.Desc(), told.Desc)
	require.Contains(t, told.Desc, " (lo) ← 127.0.0.1:")
}
