package sctp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// barren is a network that only short packets get through.
func barren(packets *int, network ...int) func(datagram) bool {
	return func(d datagram) bool {
		*packets++
		for _, n := range network {
			if linkOf(d.to.Addr())/hosts == n && len(d.bytes) > 100 {
				return false
			}
		}
		return true
	}
}

// Over two of three paths heartbeats get through, and nothing that is longer. So they are found good again and again. Data goes over
// the third one.
func TestDataGoesWhereItGetsThrough(t *testing.T) {
	for _, multipath := range []bool{false, true} {
		w, here, there := pair(t, 3, quiet(), func(c *Config) { c.Multipath = multipath })
		w.run(w.now+time.Second, nil)
		packets := 0
		w.tap = barren(&packets, 0, 1)
		here.say(0, 50_000)
		before := w.now
		w.run(w.now+time.Minute, func() bool { return there.received == 1 })
		require.Less(t, w.now-before, 5*time.Second)
		w.run(w.now+10*time.Minute, nil)
		packets = 0
		w.tap = barren(&packets, 2)
		before = w.now
		here.say(0, 50_000)
		w.run(w.now+time.Minute, func() bool { return there.received == 2 })
		require.Less(t, w.now-before, 5*time.Second, "they have swapped roles")
	}
}

// Where data gets through nowhere, however short, it is sent more and more seldom, and the association ends, though heartbeats are answered.
func TestDataGetsThroughNowhere(t *testing.T) {
	for networks := 1; networks < 3; networks++ {
		w, here, there := pair(t, networks, quiet(), nil)
		w.run(w.now+time.Second, nil)
		packets := 0
		w.tap = barren(&packets, 0, 1)
		here.say(0, 400)
		w.run(w.now+20*time.Second, nil)
		require.NoError(t, here.down)
		w.tap = func(datagram) bool { return true }
		before := w.now
		w.run(w.now+10*time.Minute, func() bool { return there.received == 1 })
		require.Less(t, w.now-before, 2*time.Minute, "RTO.Max is one")
		w.tap = barren(&packets, 0, 1)
		here.say(0, 400)
		w.run(w.now+time.Hour, func() bool { return here.down != nil })
		require.ErrorIs(t, here.down, ErrNoAnswer)
		require.Less(t, packets, 1000)
	}
}
