package sctp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/sctp/chunk"
)

// deaf is a network that answers to heartbeats do not get through.
func deaf(d datagram) bool { return !slices.Contains(types(d.bytes), chunk.TypeHeartbeatAck) }

// Data that is acknowledged says as well as the answer to a heartbeat that a path is good (RFC 9260, section 8.2): an association of which all data
// arrives does not end because heartbeats are not answered.
func TestAcknowledgedDataClearsErrors(t *testing.T) {
	for networks := 1; networks < 3; networks++ {
		w, here, there := pair(t, networks, quiet(), func(c *Config) { c.AssocMaxRetrans, c.Heartbeat = 5, time.Second })
		w.run(w.now+time.Second, nil)
		w.tap = deaf
		for range 100 {
			exchange(t, w, here, there)
			w.run(w.now+3*time.Second, nil)
			here.lives()
			there.lives()
		}
		here.say(0, 10)
		w.run(w.now+time.Second, nil)
		require.True(t, slices.ContainsFunc(here.a.paths, func(p path) bool { return p.errors <= 1 }))
		require.Equal(t, there.received, here.sent)
	}
}

// A message that is alone takes few times as long as probes would that are not put off, even if a third of all packets is lost: heartbeats that are
// answered say that it is worth another try.
func TestLoneMessages(t *testing.T) {
	var took []time.Duration
	for seed := range uint64(10) {
		w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Held = time.Millisecond })
		random := rand.New(rand.NewPCG(seed, 30))
		w.tap = func(datagram) bool { return random.IntN(100) >= 30 }
		for range 300 {
			said := w.now
			here.say(0, 100)
			w.run(w.now+time.Hour, func() bool { return there.received == here.sent })
			took = append(took, w.now-said)
			w.run(w.now+trip, nil)
		}
	}
	slices.Sort(took)
	require.Less(t, took[len(took)*99/100], 500*time.Millisecond)
	require.Less(t, took[len(took)*999/1000], 1500*time.Millisecond)
}
