package udp

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/crowd"
	"github.com/strandmp/strand/internal/test/need"
)

// A peer costs a process neither a socket nor a goroutine, and little memory.
func TestManyPeers(t *testing.T) {
	peers := need.Times(50, 1000)
	w := crowd.Weigh(t, Component{}, peers, with(pPacket, "1400"), with(prefixOfAll+"if_include", "lo"), with(prefixOfAll+"disable_family", "6"))
	t.Logf("%d peers, one socket: %+v", peers, w)
	assert.LessOrEqual(t, w.Idle, 16<<10, "bytes")
	assert.LessOrEqual(t, w.Busy, 64<<10, "bytes")
	assert.LessOrEqual(t, w.Rest, 8<<10, "bytes")
}
