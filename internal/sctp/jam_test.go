package sctp

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// What is cut on its way is lost with any of its pieces, so more often than what is short. That it is, again and again, over a way that loses much, is no
// sign that the pieces are dropped.
func TestPiecesAreLostMoreOften(t *testing.T) {
	for _, loss := range []float64{0.1, 0.3} {
		for seed := range need.Seeds(t, 6, 1000) {
			random := rand.New(rand.NewPCG(seed, 7))
			w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Held = time.Millisecond })
			narrow := 1452
			w.tap = func(d datagram) bool {
				if len(d.bytes) > narrow && d.whole {
					return false
				}
				for left := len(d.bytes); left > 0; left -= narrow {
					if random.Float64() < loss {
						return false
					}
				}
				return true
			}
			through := func() {
				w.run(w.now+2*time.Minute, func() bool { return here.down != nil || there.received == here.sent })
				require.NoError(t, here.down, "%v, seed %d", loss, seed)
			}
			for range 5 {
				here.say(0, 20_000)
				through()
				w.run(w.now+time.Minute, func() bool { return here.a.Path(0).Packet == 1452 })
				here.say(0, 100_000)
				w.run(w.now+20*time.Millisecond, nil)
				narrow = leastTried
				through()
				narrow = 1452
			}
		}
	}
}
