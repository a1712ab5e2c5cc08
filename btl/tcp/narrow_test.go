package tcp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/rawio"
)

// A connection is replaced by one with shorter segments where long ones are lost and short ones are not, and not for anything else.
func TestWhatMakesSegmentsShorter(t *testing.T) {
	lost := rawio.Stall{UnderWay: true, Resent: inVain, Segment: 1448, Silent: 300 * time.Millisecond, Confirmed: 1 << 20}
	for name, c := range map[string]struct {
		change func(*rawio.Stall)
		want   int
	}{
		"long ones are lost":                   {func(*rawio.Stall) {}, 1200},
		"nothing but a handshake came through": {func(s *rawio.Stall) { s.Silent, s.Confirmed = time.Minute, 200 }, 1200},
		"those that are tried first are lost":  {func(s *rawio.Stall) { s.Segment = 1188 }, 536},
		"jumbo frames are lost":                {func(s *rawio.Stall) { s.Segment = 8948 }, 1200},
		"every network carries them":           {func(s *rawio.Stall) { s.Segment = 524 }, 0},
		"one was lost now and then":            {func(s *rawio.Stall) { s.Resent = inVain - 1 }, 0},
		"the peer takes nothing":               {func(s *rawio.Stall) { s.Closed = true }, 0},
		"nothing arrives any more":             {func(s *rawio.Stall) { s.Silent = time.Minute }, 0},
	} {
		s := lost
		c.change(&s)
		assert.Equal(t, c.want, shorter(&s), name)
	}
}

// The system gives the zone of a peer that connects as a number, and a process that connects gives it as a name.
func TestStraitsKnowLinkLocalAddresses(t *testing.T) {
	var all straits
	all.of(netip.MustParseAddr("fe80::1%2")).segment = 1200
	assert.Equal(t, 1200, all.of(netip.MustParseAddr("fe80::1%eth0")).segment)
}

// Connections that were made before go on with long segments, and find out later what is known.
func TestStraitsDoNotWiden(t *testing.T) {
	var s strait
	assert.True(t, s.learn(1200))
	assert.True(t, s.learn(536))
	assert.False(t, s.learn(1200))
	assert.Equal(t, 536, s.segment)
	l := listener{fd: -1}
	l.narrow(536)
	l.narrow(1200)
	assert.Equal(t, 536, l.segment)
}
