package sctp

import (
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/leak"
	"github.com/strandmp/strand/wireup"
)

// A mute is a stranger that says nothing.
type mute struct{ wireup.Link }

func (mute) Abort()                            {}
func (mute) Addresses() (local, remote string) { return "", "" }

// If as many strangers wait as may, a peer waits too: its cookie is left unanswered, and the peer
// sends it again until there is room. The peer is not refused: that would use up its attempts.
func TestPeerAmongStrangers(t *testing.T) {
	leak.Check(t)
	const cookieEcho = 10 // RFC 9260, section 3.3.11
	a, b := newNode(t, 0, with(pRTOInitial, "20ms"), with(pConnectRetries, "1")), newNode(t, 1)
	var cookies atomic.Int64
	a.stack().Filter(func(packet []byte) bool {
		if packet[12] == cookieEcho {
			cookies.Add(1)
		}
		return true
	})
	slow := b.mod.Wire.Config
	slow.Pace = time.Hour
	b.mod.Wire = wireup.NewManager(b, b.mod, slow)
	for i := 0; b.mod.Wire.Room(target(a)); i++ { // some in the places of equals, for which there is a pace
		require.Less(t, i, 2*mostStrangers)
		b.mod.Wire.Came(mute{}, target(a))
	}
	a.do(func() {
		peer := btl.Peer{Rank: 1, Address: b.mod.Address()}
		paths, err := a.mod.Reach(peer)
		require.NoError(t, err)
		a.ep, err = a.mod.Connect(peer, paths[0], a)
		require.NoError(t, err)
		require.Equal(t, btl.Busy, a.ep.Send(frame("first"), 0))
	})
	await(t, "cookies", func() bool { return cookies.Load() > 2 }, a, b)
	require.Empty(t, a.downs)
	for _, p := range b.mod.Wire.Embryonic() {
		p.Ended(io.EOF)
	}
	await(t, "a connection", func() bool { return a.ups > 0 && b.ups > 0 }, a, b)
}
