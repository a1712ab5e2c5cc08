package sctp

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// Who accepts asks over its other paths as soon as it does. That may come before the COOKIE ACK, which goes over another
// network. It is answered all the same: the path would be of no use for a second.
func TestHeartbeatBeforeTheCookieAck(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	var kept []datagram
	w.tap = func(d datagram) bool {
		if slices.Contains(types(d.bytes), chunk.TypeCookieAck) {
			kept = append(kept, d)
			return false
		}
		return true
	}
	a, b := w.join(0, 2, nil), w.join(1, 2, nil)
	here := a.call(b)
	w.run(w.now+3*trip, nil)
	require.NotEmpty(t, kept)
	require.False(t, here.up)
	w.tap = func(datagram) bool { return true }
	for _, d := range kept {
		w.send(d)
	}
	w.run(w.now+2*trip, nil)
	require.True(t, here.up)
	require.Equal(t, Active, here.a.Path(1).State)
	require.Equal(t, Active, here.other(b).a.Path(1).State)
}
