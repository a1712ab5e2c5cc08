package tcp

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// An endpoint knows its path, whichever side has made the connection. If the peer has made it,
// the path is known as soon as the host is told of the endpoint.
func TestPathOfEndpoint(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	var told btl.Path
	b.onAccept = func(p *peer) { told = p.ep.Path() }
	b.do(func() { b.mod.Local.Interfaces[0].Speed = 2500 })
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

// The end that has accepted a connection over a spare path knows as well that it is spare.
func TestAcceptedSparePath(t *testing.T) {
	a, b := newNode(t, 0, 2), newNode(t, 1, 2)
	var told btl.Path
	b.onAccept = func(p *peer) { told = p.ep.Path() }
	who := btl.Peer{Rank: 1, Host: "host1", Address: b.mod.Address()}
	paths, err := a.mod.Reach(who)
	require.NoError(t, err)
	spare := a.mod.Path(paths[0].Private.(wireup.Pair), maxPaths-1)
	require.Equal(t, btl.Detour, spare.Spare)
	var x *peer
	a.do(func() { x = a.connectBy(who, spare) })
	x.connected()
	b.until("the connection", func() bool { return len(b.accepted) == 1 && b.accepted[0].ups == 1 })
	require.Equal(t, maxPaths-1, told.Index)
	require.Equal(t, btl.Detour, told.Spare)
}
