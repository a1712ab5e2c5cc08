package sctp

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Packets get as long again as the path carries while data goes on without a pause, too: no heartbeat is due then.
func TestPacketsGrowWhileDataGoesOn(t *testing.T) {
	for name, narrow := range map[string]func(d datagram) bool{
		"long ones are lost": func(d datagram) bool { return len(d.bytes) <= 600 || !d.whole },
		"all are lost":       func(datagram) bool { return false },
	} {
		t.Run(name, func(t *testing.T) {
			w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Held = time.Millisecond })
			w.run(w.now+time.Second, nil)
			goOn := func(span time.Duration, done func() bool) {
				for end := w.now + span; w.now < end && !done(); {
					if here.a.Queued() < 1<<14 {
						here.say(0, 3000)
						here.say(1, 100)
					}
					w.run(w.now+10*time.Millisecond, nil)
				}
			}
			length := func() int { return here.a.Path(0).Packet }
			goOn(time.Second, func() bool { return false })
			require.Equal(t, 1452, length())
			w.tap = narrow
			goOn(3*time.Second, func() bool { return false })
			require.Less(t, length(), 600)
			w.tap = func(datagram) bool { return true }
			before := w.now
			goOn(2*time.Minute, func() bool { return length() == 1452 })
			require.Equal(t, 1452, length())
			require.Less(t, w.now-before, 70*time.Second)
			w.run(w.now+time.Minute, func() bool { return there.received == here.sent })
			require.Equal(t, here.sent, there.received)
		})
	}
}

// Over a way that was too narrow before an association begins with short packets, and uses longer ones soon after they get through again.
func TestANarrowWayIsForgotten(t *testing.T) {
	w := newWorld(t, 1, 1, quiet())
	w.tap = func(d datagram) bool { return len(d.bytes) <= 600 || !d.whole }
	a, b := w.join(0, 1, nil), w.join(1, 1, nil)
	here := a.begin(Pair{Local: a.addresses[0], Remote: netip.AddrPortFrom(b.addresses[0], b.port), Most: 1452, Narrow: true})
	require.Equal(t, leastTried, here.a.Path(0).Packet)
	w.run(w.now+10*time.Second, nil)
	require.Greater(t, here.a.Path(0).Packet, 580)
	w.tap = func(datagram) bool { return true }
	w.run(w.now+time.Minute, nil)
	require.Equal(t, 1452, here.a.Path(0).Packet)
}
