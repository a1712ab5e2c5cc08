package sctp

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/test/need"
)

// Of several networks one works. It dies at the moment when another one comes back, again and again, while both ends send, or one. Each time they have gone on
// over that before long, however long the one that is back had been asked in vain.
func TestNetworksDieByTurns(t *testing.T) {
	for _, multipath := range []bool{false, true} {
		for seed := range uint64(10) {
			random := rand.New(rand.NewPCG(seed, 0))
			near := quiet()
			near.Rate, near.Delay = emulate.Gbit, time.Duration(random.IntN(1000))*time.Microsecond
			networks := 2 + random.IntN(3)
			w, here, there := pair(t, networks, near, func(c *Config) { c.Multipath = multipath })
			w.run(w.now+time.Second, nil)
			most, good := time.Duration(0), 0
			for range 20 {
				good = (good + 1 + random.IntN(networks-1)) % networks
				w.tap = func(d datagram) bool { return linkOf(d.to.Addr())/hosts == good }
				fell, got := w.now, here.received+there.received
				until, talk := [2]int{here.sent + 20, there.sent + 20}, 40
				if silent := random.IntN(4); silent < 2 {
					until[silent], talk = 0, 20
				}
				w.run(w.now+time.Minute, func() bool {
					for i, u := range []*user{here, there} {
						for u.sent < until[i] && u.sent-u.confirmed < 6 {
							u.say(0, 1+random.IntN(20_000))
						}
					}
					return here.received+there.received == got+talk
				})
				most = max(most, w.now-fell)
				w.run(w.now+time.Duration(random.IntN(200))*time.Millisecond<<random.IntN(10), nil) // up to 100 s
			}
			require.Less(t, most, 2*time.Second, "multipath %v, seed %d", multipath, seed)
		}
	}
}

// All networks are dead for some seconds. The association outlasts that over eight as over one, whether data is to be sent or not. If they
// stay dead it ends.
func TestManyPathsOutlastABreak(t *testing.T) {
	for _, networks := range []int{1, 2, 4, 8} {
		for _, silent := range []bool{false, true} {
			w, here, there := pair(t, networks, quiet(), nil)
			w.run(w.now+2*time.Minute, nil)
			w.tap = func(datagram) bool { return false }
			if !silent {
				here.say(0, 50_000)
			}
			w.run(w.now+8*time.Second, nil)
			w.tap = func(datagram) bool { return true }
			w.run(w.now+2*time.Minute, nil)
			require.NoError(t, here.down, "%d networks", networks)
			require.NoError(t, there.down, "%d networks", networks)
			require.Equal(t, here.sent, there.received)
			w.tap = func(datagram) bool { return false }
			w.run(w.now+10*time.Minute, nil)
			require.ErrorIs(t, here.down, ErrNoAnswer)
			require.ErrorIs(t, there.down, ErrNoAnswer)
		}
	}
}

// One network loses up to half of all packets, and the others nearly all. An association over all of them lasts as one over that alone does.
func TestOneBadNetworkIsEnough(t *testing.T) {
	for seed := range need.Seeds(t, 7, 1000) {
		random := rand.New(rand.NewPCG(seed, 0xBAD))
		networks := 2 + random.IntN(7)
		w, here, there := pair(t, networks, quiet(), func(c *Config) {
			c.Multipath = seed%2 == 0
			c.Heartbeat, c.RTOMax = time.Second<<random.IntN(6), time.Second<<random.IntN(6)
			c.AssocMaxRetrans = 20 // what is lost so often in a row is chance
		})
		bad, rest := 10+random.IntN(40), 80+random.IntN(21)
		w.run(w.now+time.Second, nil)
		w.tap = func(d datagram) bool {
			loss := rest
			if linkOf(d.to.Addr())/hosts == networks-1 {
				loss = bad
			}
			return random.IntN(100) >= loss
		}
		for end := w.now + 10*time.Minute; w.now < end; {
			for _, u := range []*user{here, there} {
				if u.a.Queued() < 1<<14 {
					u.say(0, 1+random.IntN(20_000))
				}
			}
			w.run(w.now+time.Duration(random.IntN(2000))*time.Millisecond, nil)
			require.NoError(t, here.down, "seed %d: %d networks, of which one loses %d %%, the others %d", seed, networks, bad, rest)
			require.NoError(t, there.down, "seed %d: %d networks, of which one loses %d %%, the others %d", seed, networks, bad, rest)
		}
	}
}

// Of many networks all but one die at once, while data is under way over one of the dead. The others are not found dead one after another:
// where an answer is late all are asked.
func TestAllOthersDieAtOnce(t *testing.T) {
	for _, least := range []time.Duration{0, time.Second} {
		for _, delay := range []time.Duration{100 * time.Microsecond, 50 * time.Millisecond} {
			far := quiet()
			far.Delay = delay
			w, here, there := pair(t, 8, far, func(c *Config) { c.RTOMin = least })
			w.run(w.now+10*time.Second, nil)
			w.tap = func(d datagram) bool { return linkOf(d.to.Addr())/hosts == 7 }
			before := w.now
			here.say(0, 50_000)
			w.run(w.now+time.Minute, func() bool { return there.received == 1 })
			require.Less(t, w.now-before, 300*time.Millisecond+20*delay+2*least)
		}
	}
}

// A way is dead in one direction, and full of data in the other, which is acknowledged another way. So it is asked again and again whether it is
// good. The answer to one question of many is not taken for that to the first.
func TestAskedVeryOften(t *testing.T) {
	w, here, there := pair(t, 2, quiet(), func(c *Config) { c.RTOMax = 2 * time.Minute })
	w.run(w.now+time.Second, nil)
	asked, answered, dead := 0, false, false
	var question []byte
	w.tap = func(d datagram) bool {
		if d.to.Addr() != address(0, 1) {
			return true
		}
		_, chunks, err := chunk.Parse(d.bytes, true)
		require.NoError(t, err)
		c, ok := chunks.Next()
		for ok && c.Type != chunk.TypeHeartbeat {
			c, ok = chunks.Next()
		}
		if !ok {
			return !dead
		}
		if number := c.Value[4:11]; !bytes.Equal(number, question) {
			question, asked = bytes.Clone(number), 0
		}
		asked++
		answered = asked == 257
		return answered
	}
	for end := w.now + 20*time.Minute; w.now < end && !answered; {
		dead = dead || here.a.Path(0).State == Down
		there.say(0, 1000)
		w.run(w.now+50*time.Millisecond, func() bool { return answered })
	}
	require.True(t, dead && answered)
	w.run(w.now+time.Second, nil)
	require.Equal(t, Active, here.a.Path(0).State)
	require.Less(t, here.a.Path(0).RoundTrip, 20*time.Millisecond)
}

// How long packets may be changes again and again, in some networks or all, while these die for some time and lose some of them. What was sent before is cut. Each
// time all goes on, within seconds where none had died, and nothing is taken for jammed.
func TestTheLengthOfPacketsChanges(t *testing.T) {
	for seed := range need.Seeds(t, 12, 5000) {
		random := rand.New(rand.NewPCG(seed, 5))
		networks := 1 + random.IntN(3)
		w, here, there := pair(t, networks, quiet(), func(c *Config) {
			c.Multipath, c.Interleave, c.Held = random.IntN(2) == 0, random.IntN(2) == 0, time.Millisecond
			c.AssocMaxRetrans = 100 // networks die for long
		})
		w.run(w.now+time.Second, nil)
		loss, lengths, dead := random.IntN(2)*random.IntN(5), make([]int, networks), 0
		for i := range lengths {
			lengths[i] = 1452
		}
		w.tap = func(d datagram) bool {
			i := linkOf(d.to.Addr()) / hosts
			return (len(d.bytes) <= lengths[i] || !d.whole) && dead&(1<<i) == 0 && random.IntN(100) >= loss
		}
		size := 1 << (4 + random.IntN(12))
		for range 12 {
			for i := range lengths {
				if random.IntN(2) == 0 {
					lengths[i] = leastTried + random.IntN(1000)
				}
			}
			if random.IntN(3) == 0 {
				dead = random.IntN(1 << networks)
			}
			for end := w.now + time.Duration(random.IntN(200))*time.Millisecond<<random.IntN(8); w.now < end; {
				for _, u := range []*user{here, there} {
					if u.a.Queued() < 1<<16 {
						u.say(uint16(random.IntN(3)), 1+random.IntN(size))
					}
				}
				w.run(w.now+time.Duration(random.IntN(1000))*time.Millisecond, nil)
			}
			most := 5 * time.Second
			if dead != 0 {
				most = 2 * time.Minute // RTO.Max is one
			}
			dead = 0
			w.run(w.now+most, func() bool { return here.received == there.sent && there.received == here.sent })
			require.NoError(t, here.down, "seed %d", seed)
			require.NoError(t, there.down, "seed %d", seed)
			require.Equal(t, []int{there.sent, here.sent}, []int{here.received, there.received}, "seed %d: %v", seed, lengths)
			w.run(w.now+time.Duration(random.IntN(200))*time.Millisecond<<random.IntN(12), nil)
		}
	}
}

// What is lost again and again, while others get through, waits longer each time, not to be in their way. When there are no others any more it waits for nothing.
func TestAPauseIsForOthers(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Held = time.Millisecond })
	w.run(w.now+time.Second, nil)
	w.tap = func(d datagram) bool { return len(d.bytes) < 300 || d.from.Addr() != address(0, 0) }
	here.say(1, 400)
	for range 4000 {
		here.say(0, 10)
		w.run(w.now+5*time.Millisecond, nil)
	}
	w.tap = func(datagram) bool { return true }
	w.run(w.now+time.Minute, func() bool { return there.received == here.sent-1 })
	before := w.now
	w.run(w.now+time.Minute, func() bool { return there.received == here.sent })
	require.Less(t, w.now-before, 100*time.Millisecond)
}
