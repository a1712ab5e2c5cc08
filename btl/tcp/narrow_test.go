package tcp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/rawio"
)

// A connection is replaced by one with shorter segments where long ones are lost and short ones are not, and not for anything else.
func TestWhatMakesSegmentsShorter(t *testing.T) {
	lost := rawio.Stall{UnderWay: 40 << 10, Resent: inVain, Segment: 1448, Silent: 300 * time.Millisecond, Confirmed: 1 << 20}
	for name, c := range map[string]struct {
		change func(*rawio.Stall, *lookout)
		want   int
	}{
		"long ones are lost":                    {func(*rawio.Stall, *lookout) {}, 1200},
		"nothing but a handshake came through":  {func(s *rawio.Stall, l *lookout) { l.signs, s.Confirmed = 0, 200 }, 1200},
		"that was long ago":                     {func(s *rawio.Stall, l *lookout) { l.signs, s.Confirmed, l.since = 0, 200, -int64(young) }, 0},
		"what is lost is short":                 {func(s *rawio.Stall, l *lookout) { s.UnderWay = 70 }, 0},
		"what is lost is not the longest":       {func(s *rawio.Stall, l *lookout) { s.UnderWay = 1000 }, 536},
		"those that are tried first are lost":   {func(s *rawio.Stall, l *lookout) { s.Segment = 1188 }, 536},
		"jumbo frames are lost":                 {func(s *rawio.Stall, l *lookout) { s.Segment = 8948 }, 1200},
		"every network carries them":            {func(s *rawio.Stall, l *lookout) { s.Segment = 524 }, 0},
		"one was lost now and then":             {func(s *rawio.Stall, l *lookout) { s.Resent = inVain - 1 }, 0},
		"the peer takes nothing":                {func(s *rawio.Stall, l *lookout) { s.Closed = true }, 0},
		"nothing arrives any more":              {func(s *rawio.Stall, l *lookout) { l.signs = 0 }, 0},
		"the peer was heard once, and may just": {func(s *rawio.Stall, l *lookout) { l.signs = signsOfLife - 1 }, 0},
	} {
		s, l := lost, lookout{signs: signsOfLife}
		c.change(&s, &l)
		assert.Equal(t, c.want, l.shorter(&s, 0), name)
	}
}

// The peer is heard while segments are in vain again and again, or once, as the way comes back.
func TestSignsOfLife(t *testing.T) {
	const heard, silent = 300 * time.Millisecond, 3 * time.Second
	look := func(resent int, since time.Duration) rawio.Stall { return rawio.Stall{Resent: resent, Silent: since} }
	for name, c := range map[string]struct {
		looks []rawio.Stall
		want  int
	}{
		"long ones are lost":            {[]rawio.Stall{look(2, heard), look(3, heard), look(4, heard)}, 2},
		"the peer says something late":  {[]rawio.Stall{look(2, heard), look(3, silent), look(4, silent), look(4, heard), look(4, heard)}, 1},
		"a way comes back":              {[]rawio.Stall{look(2, heard), look(3, silent), look(4, silent), look(5, silent), look(5, heard), look(5, heard)}, 1},
		"all arrives meanwhile":         {[]rawio.Stall{look(2, heard), look(3, heard), look(4, heard), look(0, heard)}, 0},
		"heard before it is sent again": {[]rawio.Stall{look(0, heard), look(2, heard)}, 0},
	} {
		var l lookout
		for _, s := range c.looks {
			l.note(&s)
		}
		assert.Equal(t, c.want, l.signs, name)
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

// Looks take no memory, and a connection that has ended is not looked at.
func TestLooksTakeNoMemory(t *testing.T) {
	var loop btltest.Loop
	ep := &endpoint{m: &module{loop: &loop}}
	ep.lookLater()
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		ep.lookout.stop()
		ep.lookLater()
	}))
	assert.Equal(t, 1, loop.Timers())
	ep.lookout.stop()
	assert.Zero(t, loop.Timers())
}
