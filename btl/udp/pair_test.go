package udp

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/param"
)

// A pair is two ranks that one test turns, with a connection between them. Time is virtual, and the sockets are
// the system's: what is sent over the loopback is there at once.
type pair struct {
	t       testing.TB
	clock   *btltest.Loop
	hosts   [2]*btltest.Host
	ends    [2]*endpoint
	recv    [2]*btltest.Receiver
	meddle  func(packet []byte) (drop bool) // what becomes of those that arrive at rank 1
	answer  func(packet []byte) (drop bool) // and at rank 0
	weather *storm                          // or nil
}

func connected(t testing.TB, settings ...param.Setting) *pair {
	return connectedOver(t, nil, settings...)
}

// connectedOver has packets meet with something from the start.
func connectedOver(t testing.TB, meddle func([]byte) (drop bool), settings ...param.Setting) *pair {
	p := &pair{t: t, clock: new(btltest.Loop), meddle: meddle, answer: meddle}
	settings = append([]param.Setting{with(pPacket, "1400"), with(prefixOfAll+"if_include", "lo")}, settings...)
	for rank := range p.hosts {
		h := btltest.NewHost(t, rank, 2, Component{meddle: func(b []byte, take func([]byte)) {
			look := p.answer
			if rank == 1 {
				look = p.meddle
			}
			switch {
			case p.weather != nil:
				p.weather.takes(rank, b, take)
			case look == nil || !look(b):
				take(b)
			}
		}}, settings...)
		h.Clock = p.clock
		p.hosts[rank] = h
	}
	m := p.hosts[0].Open()
	peer := p.hosts[1].Peer(p.hosts[1].Open())
	paths, err := m.Reach(peer)
	require.NoError(t, err)
	p.recv[0] = p.hosts[0].NewReceiver(1)
	ep, err := m.Connect(peer, paths[0], p.recv[0])
	require.NoError(t, err)
	p.ends[0] = ep.(*endpoint)
	require.Equal(t, btl.Busy, ep.Send(frame("h", ""), 0))
	p.until("a connection", func() bool {
		return p.recv[0].Ups == 1 && len(p.hosts[1].Accepted) == 1 && p.hosts[1].Accepted[0].Ups == 1
	})
	p.recv[1] = p.hosts[1].Accepted[0]
	p.ends[1] = p.recv[1].Endpoint.(*endpoint)
	p.settle()
	require.Zero(t, p.ends[0].sender.path.UnderWay())
	t.Cleanup(p.part)
	return p
}

// part ends the connection, so that closing the modules has nothing to wait for.
func (p *pair) part() {
	p.meddle, p.answer = nil, nil
	for _, ep := range p.ends {
		_ = ep.Close()
	}
	p.until("the end of both", func() bool { return p.ends[0].link.over && p.ends[1].link.over })
}

func frame(header, payload string) *btl.Frame {
	return &btl.Frame{Header: []byte(header), Payload: []byte(payload), Size: len(payload)}
}

// turn takes what has come, without any time passing.
func (p *pair) turn() {
	for p.clock.Poll() || p.clock.Turn() {
	}
}

// settle lets time pass, 100 ms of it.
func (p *pair) settle() { p.pass(100 * time.Millisecond) }

func (p *pair) pass(time time.Duration) {
	for end := p.clock.Now() + int64(time); p.clock.Now() < end; {
		p.turn()
		p.clock.Advance(100e3)
	}
	p.turn()
}

func (p *pair) until(what string, so func() bool) {
	p.t.Helper()
	for range 100_000 {
		p.turn()
		if so() {
			return
		}
		p.clock.Advance(100e3)
		runtime.Gosched()
	}
	p.t.Fatalf("waited in vain for %s: %v, %v", what, p.recv[0].Err, p.hosts[0].Lines())
}

// send sends a frame from rank 0, which is there next.
func (p *pair) send(f *btl.Frame) {
	p.t.Helper()
	p.until("room", func() bool { return p.ends[0].Send(f, 0) == btl.Taken })
}

func isData(b []byte) bool { return b[0] == kindData }

// The host may close the endpoint in any up-call, that of a frame's beginning too.
func TestClosedAsAFrameBegins(t *testing.T) {
	p := connected(t)
	p.recv[1].OnBegin = func([]byte, int) error { return p.ends[1].Close() }
	p.send(frame("h", strings.Repeat("x", 5000)))
	p.until("the end", func() bool { return p.recv[0].Downs == 1 })
	assert.Empty(t, p.recv[1].Frames)
	assert.ErrorIs(t, p.recv[0].Err, btl.ErrPeerClosed)
}

// A path that carries shorter packets from now on, and says nothing of it, is found out: by what is sent, whatever else gets through.
func TestPacketsComeToBeTooLong(t *testing.T) {
	for name, size := range map[string]struct{ long, short int }{
		"and nothing else is sent":              {100_000, 0},
		"while short ones go on":                {100_000, 5},
		"while others go on that are as long":   {100_000, 1230},
		"for a packet, while short ones go on":  {1340, 5},
		"for a packet, while longer ones go on": {1340, 1230},
	} {
		t.Run(name, func(t *testing.T) {
			p := connected(t)
			p.meddle = func(b []byte) bool { return len(b) > 1300 }
			p.answer = p.meddle
			since := p.clock.Now()
			p.send(frame("long", strings.Repeat("x", size.long)))
			p.until("the frame", func() bool {
				if size.short > 0 && p.clock.Now()%1e6 == 0 {
					p.ends[0].Send(frame("s", strings.Repeat("x", size.short)), 0)
				}
				for _, f := range p.recv[1].Frames {
					if f.Header == "long" {
						return true
					}
				}
				return false
			})
			assert.Zero(t, p.recv[0].Downs, "%v", p.recv[0].Err)
			assert.Less(t, time.Duration(p.clock.Now()-since), 500*time.Millisecond)
		})
	}
}

// A way that carries less than every network should is found out as well, from the start or later, be it in one direction, while short ones go on, or both.
// When it is good again packets are long again, soon.
func TestPacketsAreLongerThanAnyShouldBe(t *testing.T) {
	for name, c := range map[string]struct{ early, back, short bool }{
		"from the start":                            {early: true, back: true},
		"from the start, while short ones go on":    {early: true, back: true, short: true},
		"later":                                     {back: true},
		"later, while short ones go on":             {back: true, short: true},
		"later, one way":                            {},
		"later, one way, while short ones go there": {short: true},
	} {
		t.Run(name, func(t *testing.T) {
			narrow := func(b []byte) bool { return len(b) > 600 }
			var p *pair
			if c.early {
				p = connectedOver(t, narrow)
			} else {
				p = connected(t)
				p.meddle = narrow
			}
			if c.back {
				p.answer = narrow
			}
			since := p.clock.Now()
			p.send(frame("long", strings.Repeat("x", 100_000)))
			p.until("the frame", func() bool {
				if c.short && p.clock.Now()%1e6 == 0 {
					p.ends[0].Send(frame("s", "short"), 0)
				}
				return slices.ContainsFunc(p.recv[1].Frames, func(f btltest.Frame) bool { return f.Header == "long" })
			})
			assert.Zero(t, p.recv[0].Downs, "%v", p.recv[0].Err)
			assert.Less(t, time.Duration(p.clock.Now()-since), time.Second)
			assert.Greater(t, p.ends[0].sender.mtu.Size(), 600-32, "what it does carry is found out")
			p.meddle, p.answer = nil, nil
			p.long(15 * time.Second)
			p.send(frame("h", strings.Repeat("x", 10_000)))
			p.settle()
			assert.Equal(t, 1400, p.ends[0].sender.mtu.Size(), "it is good again")
		})
	}
}

// A frame whose last packet is lost comes with the first probe, not after it.
func TestAProbeHasData(t *testing.T) {
	p := connected(t)
	lost := 0
	p.meddle = func(b []byte) bool {
		if isData(b) {
			lost++
		}
		return isData(b) && lost == 1
	}
	p.send(frame("h", "tail"))
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	assert.Equal(t, 2, lost, "packets that were sent for it")
	p.settle()
	assert.Len(t, p.recv[0].Freed, 1)
	assert.Len(t, p.recv[1].Frames, 1)
	assert.Zero(t, p.ends[0].sender.path.UnderWay())
}

// What is lost stays a hole in the numbers for ever. Acknowledgements need not tell of it for ever.
func TestOldHolesAreForgotten(t *testing.T) {
	p := connected(t)
	n, longest := 0, 0
	p.meddle = func(b []byte) bool { n++; return isData(b) && n%7 == 0 }
	p.answer = func(b []byte) bool { longest = max(longest, len(b)); return false }
	for i := range 200 {
		p.send(frame("h", fmt.Sprint(i)))
		p.turn()
	}
	p.until("all frames", func() bool { return len(p.recv[1].Frames) == 200 })
	require.Greater(t, longest, headSize+ackSize, "there were holes")
	p.meddle = nil
	p.settle()
	for range 20 {
		p.send(frame("h", "more"))
		p.settle()
	}
	longest = 0
	p.send(frame("h", "last"))
	p.settle()
	assert.LessOrEqual(t, longest, headSize+ackSize, "an acknowledgement")
}

// A path that may carry longer packets is asked for them when there is something to send, whatever was looked at before: much
// at once, or little again and again.
func TestALongPathIsFound(t *testing.T) {
	for name, payload := range map[string]string{"by a long frame": strings.Repeat("x", 100_000), "by short ones": "x"} {
		t.Run(name, func(t *testing.T) {
			p := connected(t)
			s := &p.ends[0].sender
			s.mtu = recovery.NewMTU(leastPacket, basePacket, 1400) // as over a network
			s.path.Resize(s.mtu.Size())
			for i := range 30 {
				p.send(frame("h", payload))
				p.until("the frame", func() bool { return len(p.recv[1].Frames) == i+1 })
			}
			p.settle()
			assert.Equal(t, 1400, s.mtu.Size())
		})
	}
}

// A socket that has no room for a longer packet says nothing of what the path carries. A system that does not take one for its length does.
func TestASoundingThatFindsNoRoom(t *testing.T) {
	for errno, want := range map[syscall.Errno]int{syscall.EAGAIN: 1400, syscall.ENOBUFS: 1400, syscall.EMSGSIZE: 1390} {
		t.Run(errno.Error(), func(t *testing.T) {
			p := connected(t)
			ep := p.ends[0]
			s := &ep.sender
			s.mtu = recovery.NewMTU(leastPacket, basePacket, 1400) // as over a network
			s.path.Resize(s.mtu.Size())
			refused, drop := 0, false
			p.meddle = func(b []byte) bool { return drop && b[headSize] == itemPing && len(b) > basePacket } // what is refused was not sent
			ep.link.so.claims = func(n int, code syscall.Errno) (int, syscall.Errno) {
				b := ep.m.scratch
				sounds := b[headSize] == itemPing && len(b) > basePacket
				if drop = sounds && (len(b) > want || refused < 10 && errno != syscall.EMSGSIZE); drop {
					refused++
					return 0, errno
				}
				return n, code
			}
			for i := range 30 {
				p.send(frame("h", strings.Repeat("x", 10_000)))
				p.until("the frame", func() bool { return len(p.recv[1].Frames) == i+1 })
			}
			p.settle()
			assert.InDelta(t, want, s.mtu.Size(), 16)
			assert.Greater(t, refused, 2)
			assert.Zero(t, s.path.UnderWay())
		})
	}
}

// A short piece that was lost goes as soon as the window has room for it, not for a full packet.
func TestAShortPieceNeedsLittleRoom(t *testing.T) {
	p := connected(t)
	s := &p.ends[0].sender
	s.again.push(&piece{length: 100})
	assert.Less(t, s.pending(), 300)
	s.again.push(&piece{length: s.mtu.Size()})
	assert.Equal(t, s.mtu.Size(), s.pending(), "a packet takes along what it can")
	s.again = list{}
	s.again.push(&piece{length: s.mtu.Size()})
	assert.Equal(t, s.mtu.Size(), s.pending())
	s.again = list{}
}

// What the system has not taken was not sent: however often it was lost before, it does not pause.
func TestWhatIsNotTakenDoesNotPause(t *testing.T) {
	p := connected(t)
	s, now := &p.ends[0].sender, p.clock.Now()
	lost := &piece{of: &outgoing{frame: frame("h", "x")}, length: 1, sends: 5, at: now}
	from := s.path.Send(now, 100, recovery.Repeat, lost)
	s.retract(from)
	assert.Same(t, lost, s.again.head)
	assert.Nil(t, s.paused.head)
	s.again = list{}
}

// What was not taken by the system, and is sent then, was not lost before: if it is lost, that is congestion.
func TestLossOfWhatWasNotTakenAtFirst(t *testing.T) {
	p := connected(t)
	s, l := &p.ends[0].sender, p.ends[0].link
	from := s.path.Next()
	l.severed = true
	p.send(frame("h", strings.Repeat("x", 10_000)))
	l.severed = false
	require.Greater(t, s.path.Next(), from+3)
	s.retract(from)
	lost := false
	p.meddle = func(b []byte) bool {
		drop := isData(b) && !lost
		lost = lost || drop
		return drop
	}
	p.ends[0].push()
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	p.settle()
	assert.EqualValues(t, 1, s.path.Congestions)
}

// A network that carries nothing for long is one that has come to a standstill: the probes have shown it
// (RFC 9002, section 7.6).
func TestALongSilenceIsCongestion(t *testing.T) {
	p := connected(t)
	s := &p.ends[0].sender
	p.meddle = isData
	p.send(frame("h", strings.Repeat("x", 10_000)))
	p.pass(3 * time.Second)
	p.meddle = nil
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	p.settle()
	assert.EqualValues(t, 1, s.path.Collapses)
}

// How often something was sent while nothing got through is no reason to wait with it when it is lost once more.
func TestALossAfterASilence(t *testing.T) {
	p := connected(t)
	p.meddle = isData
	p.send(frame("h", strings.Repeat("x", 3000)))
	p.pass(8 * time.Second)
	came, dropped := 0, 0
	p.meddle = func(b []byte) bool {
		came++
		if came == 1 || dropped == 1 { // the first is a probe, which shows that all else is lost
			return false
		}
		dropped++
		return true
	}
	p.until("a probe", func() bool { return came > 0 })
	since := p.clock.Now()
	p.until("the frame", func() bool { return len(p.recv[1].Frames) == 1 })
	assert.Equal(t, 1, dropped)
	assert.Less(t, time.Duration(p.clock.Now()-since), 200*time.Millisecond)
}

// What is lost, and has not arrived since, is outstanding, whether it is sent again at once or waits.
func TestWhatIsLostIsOutstanding(t *testing.T) {
	p := connected(t)
	p.meddle = func(b []byte) bool { return len(b) >= leastPacket }
	const size = 10_000
	p.send(frame("h", strings.Repeat("x", size)))
	for range 500 {
		p.send(frame("s", ""))
		require.GreaterOrEqual(t, p.ends[0].Outstanding(), size-1000, "all but the end has not arrived")
		p.clock.Advance(1e6)
	}
	p.meddle = nil
	p.until("the frame", func() bool { return len(p.recv[0].Freed) == 501 })
	p.settle()
	assert.Zero(t, p.ends[0].Outstanding())
}

// What may be under way grows with the round trip: the peer's socket needs room only for what arrives while nobody looks.
func TestSpreadOverARoundTrip(t *testing.T) {
	ep := connected(t, with(pRcvbuf, "208K")).ends[0]
	for trip, times := range map[time.Duration]int{0: 1, time.Millisecond: 1, 2 * time.Millisecond: 1, 40 * time.Millisecond: 20, time.Hour: 500} {
		ep.sender.path.Least = int64(trip)
		assert.Equal(t, times*ep.window, ep.spread(), "%v", trip)
	}
	ep.window, ep.sender.path.Least = 64<<20, longestSpread
	assert.Greater(t, ep.spread(), ep.window, "also where an int has 32 bits")
	assert.Positive(t, windowOf(order.AppendUint32([]byte{0}, 1<<31)))
}
