package sctp

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
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

// What has come to be too long for one path, and is not cut there, goes over another one that carries it, or the association ends, while short packets get through over
// the first.
func TestWhatIsTooLongForOnePath(t *testing.T) {
	for _, size := range []int{1400, 3000, 30_000} {
		for _, multipath := range []bool{false, true} {
			w, here, there := pair(t, 2, quiet(), func(c *Config) { c.Held, c.Multipath = time.Millisecond, multipath })
			w.run(w.now+time.Minute, nil)
			require.Equal(t, 1452, here.a.Path(1).Packet)
			w.tap = func(d datagram) bool { return len(d.bytes) <= 1300 || linkOf(d.to.Addr())/hosts != 0 }
			before := w.now
			here.say(0, size)
			for there.flow(0).received == 0 && here.down == nil && w.now < before+time.Minute {
				if here.a.Queued() < 1<<14 {
					here.say(1, 16)
				}
				w.run(w.now+time.Millisecond, nil)
			}
			assert.Less(t, w.now-before, 5*time.Second, "%d bytes, multipath: %v", size, multipath)
		}
	}
}
