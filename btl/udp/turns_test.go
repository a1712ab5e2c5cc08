package udp

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/param"
)

// some are settings that nothing of this depends on.
func some(r *rand.Rand) []param.Setting {
	return []param.Setting{
		with(pCongestion, []string{"cubic", "reno"}[r.IntN(2)]), with(pProtect, protections[r.IntN(len(protections))]),
		with(pRcvbuf, []string{"4M", "64K"}[r.IntN(2)]), with(pHeartbeat, []string{"15s", "0s", "1s"}[r.IntN(3)]),
	}
}

// near has the network be one of short ways, some of which change the order of packets.
func (w *world) near() {
	delay := time.Duration(1 + w.random.IntN(1000))
	for i := range w.ways {
		w.ways[i] = way{delay: delay * time.Microsecond, jitter: delay * time.Microsecond * time.Duration(w.random.IntN(2))}
	}
}

// chat has the ranks say some frames in a time, but not one that is silent, nor who stands still.
func (w *world) chat(d time.Duration, silent, most int) {
	for end := w.now + int64(d); w.now < end; {
		if n := w.nodes[w.random.IntN(2)]; n.rank != silent && !n.still() && len(n.wants) < 20 {
			n.say(w.random.IntN(most))
		}
		w.run(min(end, w.now+w.random.Int64N(int64(2*time.Second))), func() bool { return false })
	}
}

// The network dies again and again, in one direction or both, and comes back after up to 100 s. Each time all goes on within a second,
// whichever end has something to say.
func TestTheNetworkDiesAgainAndAgain(t *testing.T) {
	for seed := range need.Seeds(t, 12, 5000) {
		r := rand.New(rand.NewPCG(seed, 1))
		w := newWorld(t, seed, append(some(r), with(pTimeout, "200s"))...)
		w.near()
		w.connect()
		most := 1 << r.IntN(15)
		for range 12 {
			silent := r.IntN(3)
			w.dies(r.IntN(3))
			w.chat(time.Duration(r.IntN(200))*time.Millisecond<<r.IntN(10), silent, most)
			w.revives()
			back := w.now
			w.chat(time.Millisecond, silent, most)
			require.True(t, w.run(back+int64(1100*time.Millisecond), w.there), "seed %d: %v %v", seed, w.nodes[0].wants, w.nodes[1].wants)
			require.Zero(t, w.downs(), "seed %d", seed)
			w.pass(time.Duration(r.IntN(200)) * time.Millisecond << r.IntN(8))
		}
		w.close()
	}
}

// One process stands still for less than btl_udp_timeout, or both do for any time. When they go on all arrives at once, and nobody is
// given up.
func TestProcessesThatStandStill(t *testing.T) {
	for seed := range need.Seeds(t, 12, 5000) {
		r := rand.New(rand.NewPCG(seed, 2))
		w := newWorld(t, seed, some(r)...)
		w.near()
		w.connect()
		most := 1 << r.IntN(17)
		for range 10 {
			w.chat(time.Duration(r.IntN(2000))*time.Millisecond, 2, most)
			first, stop := w.nodes[r.IntN(2)], time.Duration(r.IntN(100))*time.Millisecond<<r.IntN(11)
			if both := r.IntN(2) == 0; both {
				w.nodes[1-first.rank].until = w.now + int64(stop) - r.Int64N(int64(100*time.Millisecond))
			} else {
				stop = min(stop, 25*time.Second)
			}
			first.until = w.now + int64(stop)
			w.chat(stop, 2, most)
			require.True(t, w.run(w.now+int64(1100*time.Millisecond), w.there), "seed %d: after %v", seed, stop)
			require.Zero(t, w.downs(), "seed %d: %v %v", seed, w.nodes[0].recv.Err, w.nodes[1].recv.Err)
		}
		w.close()
	}
}

// What is dead for good is given up in btl_udp_timeout from the first question on, which an idle end asks after btl_udp_heartbeat, and not
// before. Few packets are sent meanwhile, and none after.
func TestADeadNetworkIsGivenUpInTime(t *testing.T) {
	for seed := range need.Seeds(t, 20, 5000) {
		r := rand.New(rand.NewPCG(seed, 3))
		timeout, beat := time.Duration(1+r.IntN(300))*100*time.Millisecond, time.Duration(1+r.IntN(300))*100*time.Millisecond
		w := newWorld(t, seed, with(pTimeout, timeout.String()), with(pHeartbeat, beat.String()))
		w.near()
		w.connect()
		w.chat(time.Duration(r.IntN(1000))*time.Millisecond<<r.IntN(6), r.IntN(3), 1<<r.IntN(16))
		w.dies(2)
		died, sent := w.now, w.sent
		w.run(died+int64(timeout*9/10), func() bool { return w.downs() > 0 })
		require.Zero(t, w.downs(), "seed %d: after %v of %v: %v %v", seed, time.Duration(w.now-died), timeout, w.nodes[0].recv.Err, w.nodes[1].recv.Err)
		require.True(t, w.run(died+int64(timeout+beat*5/4+2*time.Second), func() bool { return w.downs() == 2 }), "seed %d", seed)
		require.Less(t, w.sent-sent, 200, "seed %d", seed)
		sent = w.sent
		w.pass(10 * time.Minute)
		require.Equal(t, sent, w.sent, "seed %d", seed)
	}
}

// Who would connect while the network comes and goes is connected soon after it has come back for good, at both ends.
func TestConnectedAsTheNetworkComesBack(t *testing.T) {
	for seed := range need.Seeds(t, 20, 5000) {
		r := rand.New(rand.NewPCG(seed, 4))
		w := newWorld(t, seed, append(some(r), with(prefixOfAll+"connect_retries", "100"), with(pTimeout, "10m"))...) // who is connected is not given up
		w.near()
		w.dies(r.IntN(3))
		w.dial()
		for range r.IntN(6) {
			w.pass(time.Duration(r.IntN(200)) * time.Millisecond << r.IntN(8))
			w.dies(r.IntN(4))
		}
		w.revives()
		require.True(t, w.run(w.now+int64(time.Second), w.connected), "seed %d: %v", seed, w.nodes[0].Lines())
		w.chat(time.Second, 2, 10_000)
		require.True(t, w.run(w.now+int64(time.Second), w.there), "seed %d", seed)
	}
}

// The network dies as one end is connected, and the other one does not know it yet. The connection is given up meanwhile, in vain said to
// the other end. That one learns of it as soon as the network is back, and connects anew.
func TestGivenUpWhileTheOtherEndConnects(t *testing.T) {
	w := newWorld(t, 1)
	w.near()
	w.dial()
	b := w.nodes[1]
	require.True(t, w.run(w.now+int64(time.Second), func() bool { return len(b.Accepted) == 1 }))
	w.dies(2)
	w.flying = nil
	w.pass(time.Second)
	b.Accepted[0].Endpoint.(btl.Aborter).Abort()
	w.pass(time.Second)
	w.revives()
	require.True(t, w.run(w.now+int64(time.Second), w.connected), "%v", w.nodes[0].Lines())
}

// A network loses three of ten packets, of answers too, and is slow to nobody for long: who waits for an answer asks with two packets.
func TestANetworkThatLosesMuch(t *testing.T) {
	var took []time.Duration
	for seed := range need.Seeds(t, 30, 5000) {
		w := newWorld(t, seed)
		w.connect()
		for i := range w.ways {
			w.ways[i] = way{delay: 5 * time.Millisecond, loss: 0.3}
		}
		for range 40 {
			said := w.now
			w.nodes[0].say(100)
			require.True(t, w.run(said+int64(time.Minute), w.there), "seed %d", seed)
			took = append(took, time.Duration(w.now-said))
		}
	}
	slices.Sort(took)
	require.Less(t, took[len(took)*99/100], 700*time.Millisecond)
}

// What a packet told that the system had no room for is told again.
func TestAcknowledgementsThatWereNotSent(t *testing.T) {
	w := newWorld(t, 1)
	w.connect()
	a, b := w.nodes[0], w.nodes[1]
	a.say(10)
	require.True(t, w.run(w.now+int64(time.Second), func() bool { return len(a.wants) == 0 }))
	require.NotZero(t, b.ep.arrivals.Due(0), "it is held back")
	now := b.Now()
	_, _ = b.ep.arrivals.Ranges(now, nil, 1)
	b.ep.arrivals.Untold(now)
	b.ep.sender.blocked, b.ep.sender.since = true, now
	b.ep.touch()
	b.m.answer()
	w.pass(time.Second)
	require.NotNil(t, a.ep.sender.first, "there is no room for that either")
	b.ep.Resume()
	w.pass(time.Millisecond)
	require.Nil(t, a.ep.sender.first)
}

// Round trips may take longer than the time after which a probe is sent at the latest, from the beginning or all of a sudden. What has
// arrived is known to have after one or two, and who has nothing to say sends next to nothing.
func TestARoundTripThatTakesLongerThanAProbeWaits(t *testing.T) {
	for _, trip := range []time.Duration{300 * time.Millisecond, time.Second, 3 * time.Second} {
		for _, sudden := range []bool{false, true} {
			w := newWorld(t, 1, with(pTimeout, (2*trip).String()), with(pHeartbeat, "0s"))
			slow := way{delay: trip / 2}
			if !sudden {
				w.ways = [2]way{slow, slow}
			}
			w.connect()
			w.pass(3 * trip)
			w.ways = [2]way{slow, slow}
			w.nodes[0].say(100)
			w.nodes[1].say(10_000)
			require.True(t, w.run(w.now+int64(4*trip), w.there), "%v, %v: %v", trip, sudden, w.nodes[0].recv.Err)
			require.Zero(t, w.downs())
			if !sudden {
				w.pass(3 * trip)
				sent := w.sent
				w.pass(time.Minute)
				require.Equal(t, sent, w.sent, "%v: packets with nothing to say", trip)
			}
		}
	}
}

// How long packets may be changes again and again, in one direction or both, while the network dies for some time, loses some of them, and processes stand still. Each
// time all goes on within seconds.
func TestTheLengthOfPacketsChanges(t *testing.T) {
	for seed := range need.Seeds(t, 12, 5000) {
		r := rand.New(rand.NewPCG(seed, 5))
		w := newWorld(t, seed, append(some(r), with(pTimeout, "200s"))...)
		w.near()
		w.connect()
		loss := r.Float64() * 0.05 * float64(r.IntN(2))
		for i := range w.ways {
			w.ways[i].loss = loss
		}
		most := 1 << (4 + r.IntN(12))
		for range 12 {
			silent, to := r.IntN(3), r.IntN(3)
			if r.IntN(3) == 0 {
				w.dies(r.IntN(3))
			}
			for i := range w.ways {
				if to == 2 || to == i {
					w.ways[i].most = leastPacket + r.IntN(1000)
				}
			}
			w.chat(time.Duration(r.IntN(200))*time.Millisecond<<r.IntN(8), silent, most)
			w.revives()
			back := w.now
			w.chat(time.Millisecond, silent, most)
			require.True(t, w.run(back+int64(5*time.Second), w.there), "seed %d: %v %v, %+v", seed, w.nodes[0].wants, w.nodes[1].wants, w.ways)
			require.Zero(t, w.downs(), "seed %d", seed)
			w.pass(time.Duration(r.IntN(200)) * time.Millisecond << r.IntN(8))
		}
		w.close()
	}
}
