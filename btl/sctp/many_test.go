package sctp

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/crowd"
	"github.com/strandmp/strand/internal/test/need"
)

// A peer costs a process neither a socket nor a goroutine, and little memory.
func TestManyPeers(t *testing.T) {
	peers := need.Times(50, 1000)
	w := crowd.Weigh(t, Component{}, peers, with(pStack, "user"), with(prefixOfAll+"mtu_loopback", "1440"), with(pInclude, "127.0.0.1"))
	t.Logf("%d peers, one socket: %+v", peers, w)
	assert.LessOrEqual(t, w.Idle, 24<<10, "bytes")
	assert.LessOrEqual(t, w.Rest, 8<<10+keptForAll/peers, "bytes")
	assert.LessOrEqual(t, w.Busy, 2*outstanding, "bytes: messages are copied at both ends")
}

const (
	// outstanding is the default of btl_sctp_outstanding.
	outstanding = 1 << 20
	// keptForAll is how much memory a process keeps for the next messages, to whichever peer.
	keptForAll = 8 << 20
)
