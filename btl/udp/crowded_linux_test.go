package udp

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Where a socket is read too slowly since its members send so much, a stranger is heard all the same: it may be a rank
// that comes late, and what members send is not counted as what strangers may.
func TestAStrangerAmongBusyMembers(t *testing.T) {
	p := connected(t)
	cookies := 0
	p.answer = func(b []byte) bool {
		if b[0] == kindCookie {
			cookies++
		}
		return false
	}
	from, to, l := p.ends[0].link.so, &p.ends[0].link.to, p.ends[1].link
	member := append(appendHead(nil, kindAnswer, l.ours, 1), itemPing)
	hello := appendHello(nil, 0, 1, nil, make([]byte, 1000))
	queued := 0
	fill := func() {
		for ; queued < 200; queued++ { // more than one poll takes
			_ = from.Send(member, to)
		}
	}
	poll := func() {
		before := p.ends[1].counters.ReceiveCalls
		require.True(t, l.so.Receive())
		queued -= int(p.ends[1].counters.ReceiveCalls - before)
	}
	for range 10 {
		fill()
		poll()
	}
	p.clock.Advance(100e6)
	for range 20 {
		fill()
		_ = from.Send(hello, to)
		poll()
		p.clock.Advance(1e6)
	}
	require.True(t, l.so.Crowded())
	for from.Receive() {
	}
	assert.GreaterOrEqual(t, cookies, 10)
	assert.Less(t, cookies, 20)
}
