package sctp

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/internal/test/weather"
)

// Whatever the weather was over any path, and whoever has stood still: once all is good, all arrives within some times RTO.Max, and
// some round trips, and all paths are found good within an interval between heartbeats more.
func TestWhateverTheWeather(t *testing.T) {
	for seed := range need.Seeds(t, 40, 10_000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		networks := 1 + r.IntN(3)
		net := weather.New(seed, weather.Menu{Networks: networks, Stride: hosts, Spells: 1 + r.IntN(8), Span: time.Minute, Delay: time.Second, Sleeps: r.IntN(3), Short: 1250, Long: 1500})
		w := newWorldOn(t, net)
		w.awake, w.cut = net.Awake, 1250
		rto, beat := time.Second<<r.IntN(4), time.Second<<r.IntN(6)
		change := func(c *Config) {
			c.Interleave, c.Multipath, c.Delay = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
			c.Window, c.Held = 4096<<r.IntN(8), time.Millisecond<<r.IntN(8)
			c.Heartbeat, c.RTOMax, c.PathMaxRetrans = beat, rto, r.IntN(10)
			c.AssocMaxRetrans, c.InitMaxRetrans = 1000, 1000
		}
		a, b := w.join(0, networks, change), w.join(1, networks, change)
		here := a.call(b)
		var there *user
		until := func(what string, most time.Duration, so func() bool) {
			w.run(w.now+most, so)
			report := fmt.Sprintf("seed %d: %s: %v after the weather", seed, what, w.now-net.Last())
			require.True(t, so(), report)
			require.NoError(t, here.down, report)
		}
		trip := net.RoundTrip() + 200*time.Millisecond
		until("up", net.Last()+4*rto+10*trip, func() bool { there = here.other(b); return here.up && there != nil })
		most := 1 << r.IntN(15)
		for w.now < net.Calm() {
			for _, u := range []*user{here, there} {
				if u.a.Queued() < 1<<14 && r.IntN(2) == 0 {
					u.say(uint16(r.IntN(10)), 1+r.IntN(most))
				}
			}
			w.run(w.now+time.Duration(r.Int64N(int64(2*time.Second))), nil)
		}
		left := here.sent + there.sent - here.confirmed - there.confirmed
		until("all has arrived", net.Last()-w.now+4*rto+time.Duration(20+left)*trip, func() bool {
			return here.received == there.sent && there.received == here.sent && here.a.Queued()+there.a.Queued() == 0
		})
		until("all paths are good", 2*beat+4*rto, func() bool { return here.good() && there.good() })
	}
}

// good reports whether all paths are active.
func (u *user) good() bool {
	for i := range u.a.Paths() {
		if u.a.Path(i).State != Active {
			return false
		}
	}
	return true
}

// A way gets narrower, and nobody says so, while short packets go on: it is found out all the same.
func TestNarrowerWhileShortPacketsGoOn(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	w.run(w.now+time.Minute, nil)
	require.Equal(t, 1452, here.a.Path(0).Packet)
	w.tap = func(d datagram) bool { return len(d.bytes) <= 1300 || !d.whole }
	before := w.now
	for there.flow(0).received == 0 && w.now < before+time.Minute {
		if w.now == before+20*time.Millisecond {
			here.say(0, 3000)
		}
		here.say(1, 16)
		w.run(w.now+time.Millisecond, nil)
	}
	require.Less(t, w.now-before, 10*time.Second)
}

// An association that is shut down in any weather, with data under way, ends within some times RTO.Max, of which a shutdown has five.
func TestShutdownInAnyWeather(t *testing.T) {
	for seed := range need.Seeds(t, 40, 10_000) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		networks := 1 + r.IntN(3)
		net := weather.New(seed, weather.Menu{Networks: networks, Stride: hosts, Spells: 1 + r.IntN(8), Span: time.Minute, Delay: time.Second, Sleeps: r.IntN(3)})
		w := newWorldOn(t, net)
		w.awake = net.Awake
		rto, beat := time.Second<<r.IntN(4), time.Second<<r.IntN(6)
		change := func(c *Config) {
			c.Heartbeat, c.RTOMax = beat, rto
			c.AssocMaxRetrans, c.InitMaxRetrans = r.IntN(20), r.IntN(20)
		}
		a, b := w.join(0, networks, change), w.join(1, networks, change)
		a.call(b)
		all := func() []*user { return append(append([]*user(nil), a.users...), b.users...) }
		for end := time.Duration(r.Int64N(int64(net.Calm()))); w.now < end; {
			for _, u := range all() {
				if u.up && u.down == nil && u.a.Queued() < 1<<14 && r.IntN(2) == 0 {
					u.say(uint16(r.IntN(10)), 1+r.IntN(10_000))
				}
			}
			w.run(w.now+time.Duration(r.Int64N(int64(2*time.Second))), nil)
		}
		for _, u := range all() {
			if u.down == nil && (u.n == a || r.IntN(2) == 0) {
				u.a.Shutdown(w.at())
				u.n.flush(u.a)
			}
		}
		gone := func() bool { return a.Len()+b.Len() == 0 }
		w.run(net.Last()+12*rto, gone)
		require.True(t, gone(), "seed %d", seed)
	}
}
