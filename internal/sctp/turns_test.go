package sctp

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// Of two networks one dies at the moment when the other comes back, again and again, while both ends send. Each time they have gone on
// over the other before long, however long the one that is back had been asked in vain.
func TestNetworksDieByTurns(t *testing.T) {
	for _, multipath := range []bool{false, true} {
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 0))
			near := quiet()
			near.Rate, near.Path.Delay = emulate.Gbit, time.Duration(random.IntN(1000))*time.Microsecond
			w, here, there := pair(t, 2, near, func(c *Config) { c.Multipath = multipath })
			w.run(w.now+time.Second, nil)
			most := time.Duration(0)
			for fall := range 20 {
				dead := fall % 2
				w.tap = func(d datagram) bool { return linkOf(d.to.Addr())/hosts != dead }
				fell, got := w.now, here.received+there.received
				until := [2]int{here.sent + 20, there.sent + 20}
				w.run(w.now+time.Minute, func() bool {
					for i, u := range []*user{here, there} {
						for u.sent < until[i] && u.sent-u.confirmed < 6 {
							u.say(0, 1+random.IntN(20_000))
						}
					}
					return here.received+there.received == got+40
				})
				most = max(most, w.now-fell)
				w.run(w.now+time.Duration(random.IntN(200))*time.Millisecond<<random.IntN(10), nil) // up to 100 s
			}
			require.Less(t, most, time.Second, "multipath %v, seed %d", multipath, seed)
		}
	}
}
