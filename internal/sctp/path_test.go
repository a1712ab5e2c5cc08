package sctp

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/sctp/chunk"
	"github.com/strandmp/strand/internal/test/need"
)

// cut loses everything of a network.
func cut(network int) func(datagram) bool {
	return func(d datagram) bool { return linkOf(d.to.Addr())/hosts != network }
}

// Where one of two paths dies, data goes over the other, and nothing is lost; when it is back it is found good.
func TestFailover(t *testing.T) {
	w, here, there := pair(t, 2, quiet(), nil)
	w.run(w.now+time.Second, nil)
	for i := range 2 {
		require.Equal(t, Active, here.a.Path(i).State)
		require.Equal(t, Active, there.a.Path(i).State)
	}
	exchange(t, w, here, there)
	w.tap = cut(0)
	before := w.now
	exchange(t, w, here, there)
	require.Less(t, w.now-before, time.Second, "the stall")
	w.run(w.now+10*time.Minute, func() bool { return here.a.Path(0).State == Down && there.a.Path(0).State == Down })
	require.Equal(t, Down, here.a.Path(0).State)
	require.Equal(t, 2, here.changes, "one path came up, one went down")
	exchange(t, w, here, there)
	w.tap = func(datagram) bool { return true }
	w.run(w.now+2*time.Minute, func() bool { return here.a.Path(0).State == Active && there.a.Path(0).State == Active })
	require.Equal(t, Active, here.a.Path(0).State)
	require.Equal(t, Active, there.a.Path(0).State)
	require.Equal(t, 3, here.changes)
	exchange(t, w, here, there)
	require.NoError(t, here.down)
}

// No data goes over a path that nobody has answered on, even if the other one is down for a while.
func TestUnconfirmedPath(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	silent := false
	w.tap = func(d datagram) bool {
		for _, c := range types(d.bytes) {
			if linkOf(d.to.Addr())/hosts == 1 {
				require.NotEqual(t, chunk.TypeData, c)
			}
		}
		return !silent && cut(1)(d)
	}
	a, b := w.join(0, 2, nil), w.join(1, 2, func(c *Config) { c.Multipath = true })
	here := a.call(b)
	w.run(time.Second, nil)
	there := here.other(b)
	for range 10 {
		exchange(t, w, here, there)
	}
	w.run(w.now+30*time.Minute, nil)
	require.NotEqual(t, Active, here.a.Path(1).State)
	require.Equal(t, Active, here.a.Path(0).State)
	require.NoError(t, here.down)
	exchange(t, w, here, there)
	for _, u := range []*user{here, there} {
		silent = true
		u.say(1, 1000)
		due := here.received + there.received + 1
		w.run(w.now+time.Hour, func() bool { return u.a.Path(0).State == Down })
		require.Equal(t, Down, u.a.Path(0).State)
		w.run(w.now+time.Second, nil)
		silent = false
		w.run(w.now+5*time.Minute, func() bool { return here.received+there.received == due })
		exchange(t, w, here, there)
	}
}

// The first address need not be the one that answers.
func TestFirstAddressIsSilent(t *testing.T) {
	w := newWorld(t, 1, 2, quiet())
	w.tap = cut(0)
	a, b := w.join(0, 2, nil), w.join(1, 2, nil)
	here := a.call(b)
	w.run(time.Minute, func() bool { return here.up })
	require.Less(t, w.now, 2*time.Second)
	require.Equal(t, address(1, 1), here.a.Remote().Addr())
	exchange(t, w, here, here.other(b))
}

// Of many addresses the last one answers. Each is asked once before any is asked again, those too beyond what an association keeps, and how long the answer
// took is known of the address that it came from.
func TestOnlyTheLastAddressAnswers(t *testing.T) {
	for _, networks := range []int{3, 8, 16, 20} {
		w := newWorld(t, 1, networks, quiet())
		w.tap = func(d datagram) bool { return linkOf(d.to.Addr())/hosts == networks-1 }
		a, b := w.join(0, networks, nil), w.join(1, networks, nil)
		here := a.call(b)
		w.run(time.Minute, func() bool { return here.up })
		require.Less(t, w.now, time.Duration(networks)*time.Duration(firstRepeat))
		require.Equal(t, address(networks-1, 1), here.a.Remote().Addr())
		require.LessOrEqual(t, here.a.Paths(), mostAddresses)
		require.Equal(t, trip, here.a.Path(0).RoundTrip.Truncate(time.Millisecond))
		require.Len(t, a.byPeer, here.a.Paths())
		exchange(t, w, here, here.other(b))
	}
}

// A peer whose port of UDP changes, as behind a NAT, is followed, but not before it has answered from there.
func TestPortChanges(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	exchange(t, w, here, there)
	there.n.port = 7777
	exchange(t, w, here, there)
	require.Equal(t, netip.AddrPortFrom(address(0, 1), 7777), here.a.Remote())
	exchange(t, w, here, there)

	// Somebody else at the same address, who has seen a packet, sends it again: nothing goes there for good.
	d := chunk.AppendSACK(nil, here.a.tsn-1, 1<<16, nil, nil)
	here.injectFrom(8888, here.a.tag, d)
	w.run(w.now+time.Minute, nil)
	require.Equal(t, uint16(7777), here.a.Remote().Port())
	exchange(t, w, here, there)

	// From another address nothing is taken, whatever tag it has.
	foreign := here.n.Foreign
	b := chunk.Append(chunk.AppendHeader(nil, chunk.Header{Source: sctpPort, Destination: sctpPort, Tag: here.a.tag}), chunk.TypeAbort, 0, nil)
	chunk.Seal(b)
	w.deliver(datagram{from: netipAt(2), to: netipAt(0), bytes: b})
	require.Equal(t, foreign+1, here.n.Foreign)
	require.NoError(t, here.down)
}

// The longest packet that a path carries is found, and found again when it changes.
func TestPacketLength(t *testing.T) {
	for _, most := range []int{1200, 1300, 1452, 4000, 8952} {
		w := newWorld(t, 1, 1, quiet())
		narrow := most
		w.tap = func(d datagram) bool { return len(d.bytes) <= narrow || !d.whole }
		wide := func(c *Config) {
			local := c.Local
			c.Local = func(remote netip.AddrPort, arrived netip.Addr) (Pair, bool) {
				p, ok := local(remote, arrived)
				p.Most = 8952
				return p, ok
			}
		}
		a, b := w.join(0, 1, nil), w.join(1, 1, wide)
		here := a.call(b)
		w.run(time.Minute, nil)
		there := here.other(b)
		size := there.a.Path(0).Packet
		require.LessOrEqual(t, size, most)
		require.Greater(t, size, most-24, "%d", most)
		require.GreaterOrEqual(t, here.a.Path(0).Packet, min(most, 1452)-24)
		there.say(0, 100_000)
		w.run(w.now+time.Minute, func() bool { return here.received == 1 })
		if most <= 1300 {
			continue
		}
		// The way gets narrower, and nobody says so.
		narrow = 1250
		there.say(0, 100_000)
		w.run(w.now+time.Minute, func() bool { return here.received == 2 })
		require.Equal(t, 2, here.received, "%d", most)
		require.LessOrEqual(t, there.a.Path(0).Packet, 1250)
	}
}

// A peer that does not answer any more is given up, whether anything is sent or not, after the errors that
// an association is given.
func TestSilence(t *testing.T) {
	for _, data := range []bool{false, true} {
		w, here, there := pair(t, 2, quiet(), func(c *Config) { c.Heartbeat, c.AssocMaxRetrans = 5*time.Second, 4 })
		exchange(t, w, here, there)
		there.n.dead = true
		if data {
			here.say(1, 10)
		}
		before := w.now
		w.run(w.now+time.Hour, func() bool { return here.down != nil })
		require.ErrorIs(t, here.down, ErrNoAnswer)
		require.ErrorIs(t, here.down, syscall.ETIMEDOUT)
		require.Greater(t, w.now-before, 3*time.Second)
		require.Less(t, w.now-before, 2*time.Minute)
	}
}

// The system takes no packets of the length that every network should carry, and says so. They are cut up on their way, until longer ones are taken.
func TestPacketsAreCut(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	narrow := 500
	w.tap = func(d datagram) bool {
		fits := len(d.bytes) <= narrow || !d.whole
		if sender := here; !fits {
			if d.from.Addr() == there.a.paths[0].Local {
				sender = there
			}
			sender.a.TooLong(w.at(), d.to, len(d.bytes))
		}
		return fits
	}
	exchange(t, w, here, there)
	narrow = 1452
	w.run(w.now+11*time.Minute, nil)
	require.Greater(t, here.a.Path(0).Packet, 1400)
	exchange(t, w, here, there)
	require.True(t, here.a.way.Whole)
}

// A way that carries less than every network should is found out, from the start or later, in one direction or both. What was sent before is cut there. When
// it is good again packets are long again, soon.
func TestPathOfLessThanThereShouldBe(t *testing.T) {
	for networks := 1; networks < 3; networks++ {
		for _, early := range []bool{false, true} {
			for _, both := range []bool{false, true} {
				w := newWorld(t, 1, networks, quiet())
				narrow := func(d datagram) bool {
					return len(d.bytes) <= 600 || !d.whole || !both && d.from.Addr().As4()[3] == 1
				}
				if early {
					w.tap = narrow
				}
				a, b := w.join(0, networks, nil), w.join(1, networks, nil)
				here := a.call(b)
				w.run(w.now+time.Second, func() bool { return here.up })
				there := here.other(b)
				w.run(w.now+time.Second, nil)
				before := w.now
				w.tap = narrow
				exchange(t, w, here, there)
				require.Less(t, w.now-before, 5*time.Second)
				require.Less(t, here.a.Path(0).Packet, 600)
				before = w.now
				exchange(t, w, here, there)
				require.Less(t, w.now-before, time.Second)
				w.tap = func(datagram) bool { return true }
				w.run(w.now+time.Minute, nil)
				require.Equal(t, 1452, here.a.Path(0).Packet)
			}
		}
	}
}

// What was sent in packets that do not get through any more, and that nobody cuts on the way, ends the association soon, at both ends, where short ones do get
// through: it begins anew in short ones. A path that carries it has it go on, and so does one that is dead for a while.
func TestWhatIsTooLongAndNotCut(t *testing.T) {
	for networks := 1; networks < 3; networks++ {
		for name, more := range map[string]int{"a message": 0, "many": 100} {
			strict := func(limit int, networks ...int) func(datagram) bool {
				return func(d datagram) bool {
					return len(d.bytes) <= limit || !slices.Contains(networks, linkOf(d.to.Addr())/hosts)
				}
			}
			w, here, there := pair(t, networks, quiet(), func(c *Config) { c.Held = time.Millisecond })
			w.run(w.now+time.Second, nil)
			before := w.now
			if networks == 2 {
				w.tap = strict(1300, 0)
				exchange(t, w, here, there)
				here.lives()
				there.lives()
				require.Less(t, w.now-before, 2*time.Second)
			}
			for range 5 { // dead for a while
				w.tap = strict(0, 0, 1)
				here.say(0, 50_000)
				w.run(w.now+10*time.Second, nil)
				w.tap = func(datagram) bool { return true }
				exchange(t, w, here, there)
			}
			w.run(w.now+11*time.Minute, nil)
			require.Equal(t, 1452, here.a.Path(0).Packet)
			w.tap = strict(1300, 0, 1)
			before = w.now
			for range 1 + more {
				here.say(0, 50_000)
			}
			w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
			require.ErrorIs(t, here.down, ErrTooLong, "%d, %s", networks, name)
			var abort *AbortError
			require.ErrorAs(t, there.down, &abort)
			require.True(t, abort.Peer)
			require.Less(t, w.now-before, 3*time.Second, "%d, %s", networks, name)
		}
	}
}

// A path that has lost nothing for long, and comes to be narrow and to lose half of all packets, does so by chance: what is too long is cut on its way, and
// arrives sooner or later.
func TestWhatIsTooLongAndLostByChance(t *testing.T) {
	for seed := range uint64(30) {
		r := rand.New(rand.NewPCG(seed, 0x5EA))
		l := quiet()
		l.Delay = 500 * time.Microsecond
		w, here, there := pair(t, 1, l, func(c *Config) { c.Held = time.Millisecond })
		for range 100 {
			here.say(1, 16)
			w.run(w.now+10*time.Millisecond, nil)
		}
		require.Equal(t, 1452, here.a.Path(0).Packet)
		w.tap = func(d datagram) bool { // three of four of those that are cut, into two
			long := len(d.bytes) > 1300
			return d.from.Addr() == address(0, 1) || r.IntN(2) == 0 && (!long || !d.whole && r.IntN(2) == 0)
		}
		here.say(0, 10_000)
		w.run(w.now+time.Hour, func() bool { return there.flow(0).received == 1 || here.down != nil })
		require.NoError(t, here.down, "seed %d", seed)
	}
}

// An association on which nothing is said stays for ever, with few packets.
func TestIdle(t *testing.T) {
	w, here, there := pair(t, 2, quiet(), nil)
	exchange(t, w, here, there)
	before := here.a.Sent
	w.run(w.now+time.Hour, nil)
	require.NoError(t, here.down)
	require.Equal(t, Active, here.a.Path(0).State)
	require.Less(t, here.a.Sent-before, uint64(4*2*125)) // a heartbeat in 30 s on each path, their answers, and what finds out the length
	exchange(t, w, here, there)
}

// One that is not used is closed, if it is to be.
func TestAutoclose(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Autoclose = 20 * time.Second })
	here.a.Trust()
	there.a.Trust()
	w.run(w.now+15*time.Second, nil)
	exchange(t, w, here, there)
	w.run(w.now+15*time.Second, nil)
	require.NoError(t, here.down)
	w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
	require.Equal(t, io.EOF, here.down)
	require.Equal(t, io.EOF, there.down)
}

// Until the peer has proved who it is, that is its owner's to wait for: an answer may take longer than an association may be idle.
func TestAutocloseWaitsForTrust(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), func(c *Config) { c.Autoclose = time.Second })
	w.run(w.now+time.Minute, nil)
	require.NoError(t, here.down)
	require.NoError(t, there.down)
	exchange(t, w, here, there)
	here.a.Trust()
	w.run(w.now+time.Minute, func() bool { return here.down != nil && there.down != nil })
	require.Equal(t, io.EOF, here.down)
	require.Equal(t, io.EOF, there.down)
}

// A peer that does not take part in a shutdown does not hold it up for ever.
func TestShutdownEnds(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	there.n.dead = true
	here.a.Shutdown(w.at())
	here.n.flush(here.a)
	w.run(w.now+time.Hour, func() bool { return here.down != nil })
	require.ErrorIs(t, here.down, syscall.ETIMEDOUT)

	// Nor does one that answers everything but that.
	w, here, there = pair(t, 1, quiet(), nil)
	w.tap = func(d datagram) bool {
		for _, c := range types(d.bytes) {
			if c == chunk.TypeShutdown {
				return false
			}
		}
		return true
	}
	here.a.Shutdown(w.at())
	here.n.flush(here.a)
	w.run(w.now+time.Hour, func() bool { return here.down != nil })
	require.ErrorIs(t, here.down, syscall.ETIMEDOUT)
	w.run(w.now+time.Hour, func() bool { return there.down != nil })
	require.Error(t, there.down)
}

// Aborting tells the peer why.
func TestAbort(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	here.say(0, 10)
	here.a.Abort("enough")
	here.n.flush(here.a)
	w.run(w.now+time.Second, nil)
	require.NoError(t, here.down, "who aborts is not told")
	var abort *AbortError
	require.ErrorAs(t, there.down, &abort)
	require.Equal(t, "enough", abort.Info)
	require.ErrorIs(t, there.down, syscall.ECONNRESET)
	require.Zero(t, here.n.Len()+there.n.Len())
}

// Whatever a network does to packets, messages arrive once each, in order, and the association ends in order, or for
// want of an answer.
func TestWhateverTheNetworkDoes(t *testing.T) {
	for seed := range need.Seeds(t, 60, 20_000) {
		r := rand.New(rand.NewPCG(seed, 0x5C79))
		l := quiet()
		l.Rate = emulate.Mbit << r.IntN(10)
		l.Delay = time.Duration(1+r.IntN(1<<r.IntN(16))) * time.Microsecond
		l.Loss = emulate.Independent(r.Float64() * 0.25 * float64(r.IntN(2)))
		l.Jitter = time.Duration(r.Int64N(int64(l.Delay)) * int64(r.IntN(2)))
		l.Reorder, l.ReorderBy = r.Float64()*float64(r.IntN(2)), time.Duration(1+r.Int64N(int64(4*l.Delay)))
		l.Duplicate = r.Float64() * float64(r.IntN(2))
		l.Corrupt = r.Float64() * 0.1 * float64(r.IntN(2))
		networks := 1 + r.IntN(2)
		w := newWorld(t, seed, networks, l)
		change := func(c *Config) {
			c.Interleave, c.Multipath, c.Delay = r.IntN(2) == 0, r.IntN(2) == 0, r.IntN(2) == 0
			c.Window, c.Held = 64<<10<<r.IntN(5), time.Millisecond<<r.IntN(8)
			c.AssocMaxRetrans, c.InitMaxRetrans = 100, 100 // what is lost here is chance
		}
		a, b := w.join(0, networks, change), w.join(1, networks, change)
		here := a.call(b)
		w.run(time.Hour, func() bool { return here.up })
		require.True(t, here.up, "seed %d", seed)
		there := here.other(b)
		require.NotNil(t, there, "seed %d", seed)
		most := 1 + r.IntN(1<<r.IntN(8))
		for range most {
			here.say(uint16(r.IntN(10)), 1<<r.IntN(15))
			if r.IntN(4) == 0 {
				there.say(uint16(r.IntN(10)), 1<<r.IntN(15))
			}
			w.run(w.now+time.Duration(r.IntN(2000))*time.Microsecond, nil)
		}
		w.run(w.now+24*time.Hour, func() bool {
			return here.received == there.sent && there.received == here.sent && here.confirmed == here.sent && there.confirmed == there.sent || here.down != nil || there.down != nil
		})
		require.NoError(t, here.down, "seed %d", seed)
		require.NoError(t, there.down, "seed %d", seed)
		where := fmt.Sprintf("seed %d: %d of %d and %d of %d", seed, here.received, there.sent, there.received, here.sent)
		require.True(t, here.received == there.sent && there.received == here.sent, where)
		require.Zero(t, here.a.Queued()+there.a.Queued(), where)
		here.a.Shutdown(w.at())
		a.flush(here.a)
		w.run(w.now+24*time.Hour, func() bool { return here.down != nil && there.down != nil })
		require.Equal(t, io.EOF, here.down, where)
		require.True(t, there.down != nil, where)
		require.Zero(t, a.Len()+b.Len()+len(a.byPeer)+len(b.byPeer))
	}
}

// Two heartbeats that come one after the other, before anything is sent, are both answered: one that asks whether the path is good, and one that
// finds out how long packets may be.
func TestTwoHeartbeatsAtOnce(t *testing.T) {
	w, here, there := pair(t, 1, quiet(), nil)
	w.run(w.now+time.Second, nil)
	var asked [][]byte
	w.tap = func(d datagram) bool {
		asked = append(asked, d.bytes)
		return false
	}
	here.a.paths[0].beat.due = true
	here.a.paths[0].sound = question{due: true, size: 1452}
	here.n.flush(here.a)
	require.Len(t, asked, 2)
	for _, packet := range asked {
		a, reply := there.n.Receive(w.at(), address(0, 1), netipAt(0), packet, nil)
		require.Same(t, there.a, a)
		require.Nil(t, reply)
	}
	w.tap = func(datagram) bool { return true }
	there.n.flush(there.a)
	w.run(w.now+100*time.Millisecond, nil)
	require.Zero(t, here.a.paths[0].beat.number, "the first is answered")
	require.Zero(t, here.a.paths[0].sound.number, "the second is answered")
	w.run(w.now+10*time.Second, nil)
	require.Equal(t, Active, here.a.Path(0).State)
}
