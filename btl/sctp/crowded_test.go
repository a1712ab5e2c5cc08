package sctp

import (
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/leak"
	"github.com/strandmp/strand/internal/strangers"
)

// Where as many strangers wait as may, a peer waits too: its cookie is left unanswered, and
// sent again, until there is room. It is not refused, which would use up its attempts.
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
	var crowd []*strangers.Place[*inbound]
	for range mostStrangers + 1 { // the last in the place of an equal, for which there is a pace
		place, _ := b.mod.strangers.Enter(b.mod.loop.Now()+int64(time.Hour), target(a), nil)
		crowd = append(crowd, place)
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
	for _, place := range crowd {
		place.Leave()
	}
	await(t, "a connection", func() bool { return a.ups > 0 && b.ups > 0 }, a, b)
}
