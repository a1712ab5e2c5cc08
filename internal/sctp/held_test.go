package sctp

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

const trip = 10 * time.Millisecond // of quiet

// holding is a pair of which each holds acknowledgements back for a time of its own; 0: the default, of which nobody is told.
func holding(t *testing.T, ours, theirs time.Duration) (w *world, here, there *user) {
	w = newWorld(t, 1, 1, quiet())
	a := w.join(0, 1, func(c *Config) { c.Held = ours })
	b := w.join(1, 1, func(c *Config) { c.Held = theirs })
	here = a.call(b)
	w.run(w.now+time.Minute, func() bool { return here.up })
	there = here.other(b)
	for range 20 {
		exchange(t, w, here, there)
	}
	w.run(w.now+time.Second, nil)
	return w, here, there
}

// repaired is how long a message takes of whose packet the first copy is lost, while nothing else is under way.
func repaired(w *world, from, to *user) time.Duration {
	lost, began, before := false, w.now, to.received
	w.tap = func(d datagram) bool {
		if !lost && slices.Contains(types(d.bytes), chunk.TypeData) {
			lost = true
			return false
		}
		return true
	}
	from.say(0, 100)
	w.run(w.now+time.Minute, func() bool { return to.received > before })
	require.True(w.t, lost)
	return w.now - began
}

// Who tells that it does not hold acknowledgements back for long is asked soon for what nothing else tells of. Who tells
// nothing has the time that RFC 9260 gives it. Each end goes by what the other one tells, whoever has begun.
func TestOnePacketIsLost(t *testing.T) {
	const brief = time.Millisecond
	for _, held := range [][2]time.Duration{{brief, brief}, {brief, 0}, {0, brief}, {0, 0}} {
		w, here, there := holding(t, held[0], held[1])
		for _, way := range []struct {
			from, to *user
			told     bool
		}{{here, there, held[1] == brief}, {there, here, held[0] == brief}} {
			path := way.from.a.sender.Path(0)
			probes := path.Probes
			took := repaired(w, way.from, way.to)
			if way.told {
				require.Less(t, took, 3*trip+5*brief, "%v", held)
			} else {
				require.GreaterOrEqual(t, took, defaultHeld, "%v", held)
				require.Less(t, took, 2*defaultHeld, "%v", held)
			}
			w.run(w.now+time.Second, nil)
			require.Equal(t, probes+1, path.Probes, "%v", held)
		}
	}
}

// An acknowledgement is held back for as long as is told, and of every second packet not at all.
func TestHeldBackForAsLongAsTold(t *testing.T) {
	const brief = 7 * time.Millisecond
	w, here, there := holding(t, 0, brief)
	require.Equal(t, brief, here.a.peerHeld)
	require.Equal(t, defaultHeld, there.a.peerHeld)
	began, done := w.now, here.confirmed
	here.say(0, 100)
	w.run(w.now+time.Second, func() bool { return here.confirmed > done })
	require.InDelta(t, trip+brief, w.now-began, float64(time.Millisecond))
	began = w.now
	here.say(0, 2000)
	w.run(w.now+time.Second, func() bool { return here.confirmed > done+1 })
	require.Less(t, w.now-began, trip+time.Millisecond)
}

// A parameter that says something else, or whose value is no number, tells nothing.
func TestOtherAdaptations(t *testing.T) {
	for _, value := range [][]byte{nil, {1}, {0, 0, 0, 0}, {0, 0, 0, 1}, {0x53, 0x54, 0x51, 1}, {0x53, 0x54, 0x52, 0}, {0x53, 0x54, 0x52, 1, 0}} {
		b := chunk.AppendHeader(nil, chunk.Header{Source: sctpPort, Destination: sctpPort})
		b, start := chunk.BeginInit(b, chunk.TypeInit, chunk.Init{Tag: 1, Window: leastWindow, Out: 1, In: 1})
		b = chunk.End(chunk.AppendField(b, chunk.ParamAdaptation, value), start)
		chunk.Seal(b)
		_, chunks, err := chunk.Parse(b, false)
		require.NoError(t, err)
		c, _ := chunks.Next()
		var g greeting
		require.Nil(t, g.read(c))
		require.Zero(t, g.held, "%v", value)
		require.False(t, g.unknown)
	}
}

// A peer that answers a single packet late, since its process is busy, is asked for it soon, but its path is not
// suspected for that.
func TestBusyPeerIsNotSuspected(t *testing.T) {
	w, here, there := pair(t, 2, quiet(), func(c *Config) { c.Held = time.Millisecond })
	w.run(w.now+time.Second, nil)
	for range 20 {
		exchange(t, w, here, there)
	}
	w.run(w.now+time.Second, nil)
	var kept []datagram
	w.tap = func(d datagram) bool {
		require.Zero(t, linkOf(d.to.Addr())/hosts, "all goes by the first network")
		if d.to.Addr() == address(0, 1) {
			kept = append(kept, d)
			return false
		}
		return true
	}
	here.say(0, 100)
	w.run(w.now+defaultHeld/2, nil)
	require.NotZero(t, here.a.sender.Path(0).Probes)
	w.tap = func(datagram) bool { return true }
	for _, d := range kept {
		w.send(d)
	}
	w.run(w.now+time.Second, func() bool { return here.confirmed == here.sent })
	require.Equal(t, here.sent, here.confirmed)
	require.Equal(t, Active, here.a.Path(0).State)
	require.Zero(t, here.a.Path(0).Errors)
}
