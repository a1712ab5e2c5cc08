package udp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A peer is heard that nothing arrives at, or nothing that is longer than the shortest packets: it is given up after
// btl_udp_timeout, as one that is silent.
func TestAPeerThatHearsNothing(t *testing.T) {
	for name, lost := range map[string]func([]byte) bool{
		"at all":       func([]byte) bool { return true },
		"that is long": func(b []byte) bool { return len(b) >= leastPacket },
	} {
		t.Run(name, func(t *testing.T) {
			p := connected(t)
			p.meddle = lost
			p.send(frame("long", strings.Repeat("x", 100_000)))
			p.long(20 * time.Minute)
			require.Equal(t, 1, p.recv[0].Downs)
			assert.Less(t, p.clock.Now(), int64(2*time.Minute))
		})
	}
}

// However long a peer had nothing to say, it is given up when it was asked in vain for btl_udp_timeout, and not before.
func TestAPeerIsGivenTimeAfterALongRest(t *testing.T) {
	p := connected(t, with(pHeartbeat, "0s"), with(pTimeout, "5s"))
	dead := func([]byte) bool { return true }
	p.long(time.Minute)
	p.meddle = dead
	p.send(frame("h", "x"))
	p.long(4 * time.Second)
	p.meddle = nil
	p.long(2 * time.Second)
	require.Zero(t, p.recv[0].Downs, "%v", p.recv[0].Err)
	require.Len(t, p.recv[1].Frames, 1)
	p.meddle = dead
	p.send(frame("h", "y"))
	p.long(7 * time.Second)
	require.Equal(t, 1, p.recv[0].Downs)
}

// A peer that is dead is given up in time while a little is sent to it again and again, for which there is room.
func TestATrickleToADeadPeer(t *testing.T) {
	p := connected(t)
	for range 20 {
		p.send(frame("long", strings.Repeat("x", 100_000)))
		p.turn()
	}
	p.settle()
	p.meddle, p.answer = isData, isData
	for end := p.clock.Now() + int64(35*time.Second); p.clock.Now() < end && p.recv[0].Downs == 0; {
		p.ends[0].Send(frame("h", "x"), 0)
		p.long(100 * time.Millisecond)
	}
	require.Equal(t, 1, p.recv[0].Downs)
}

// long lets much time pass, until rank 0 has lost its peer.
func (p *pair) long(time time.Duration) {
	for end := p.clock.Now() + int64(time); p.clock.Now() < end && p.recv[0].Downs == 0; p.clock.Advance(10e6) {
		p.turn()
	}
}

// A system that has no room, and never says that it has, ends a connection as silence does, though nothing is under way.
func TestASocketThatIsBlockedForEver(t *testing.T) {
	p := connected(t)
	ep := p.ends[0]
	ep.sender.blocked, ep.sender.since = true, p.clock.Now()
	p.send(frame("h", "x"))
	ep.push()
	p.long(29 * time.Second)
	require.Zero(t, p.recv[0].Downs)
	p.long(3 * time.Second)
	require.Equal(t, 1, p.recv[0].Downs)
}
