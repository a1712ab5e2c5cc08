package recovery

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fates is an owner that remembers.
type fates map[int]string

func (f fates) Arrived(what, _ int, _ Kind) { f[what] += "arrived " }
func (f fates) Lost(what, _ int, _ Kind)    { f[what] += "lost " }

const ms = int64(time.Millisecond)

// sent returns a path on which so many packets were sent, one each millisecond from 0 on.
func sent(packets int) (*Path[int], fates) {
	p := NewPath[int](Config{Packet: 1000, Held: 25 * time.Millisecond}, NewReno(1000))
	for n := range packets {
		p.Send(int64(n)*ms, 1000, 0, n)
	}
	return p, fates{}
}

func (p *Path[T]) acknowledge(t *testing.T, now int64, owner Owner[T], ranges ...Range) {
	t.Helper()
	require.NoError(t, p.Acknowledge(now, ranges, 0, 0, owner))
}

// RFC 9002, section 6.1.1: a packet is lost when one that was sent three later has arrived.
func TestLostByOvertaking(t *testing.T) {
	p, got := sent(10)
	p.acknowledge(t, 50*ms, got, Range{1, 2})
	assert.Equal(t, fates{1: "arrived ", 2: "arrived "}, got)
	p.acknowledge(t, 51*ms, got, Range{1, 3})
	assert.Equal(t, "lost ", got[0])
	assert.Equal(t, 6000, p.UnderWay())
	assert.Equal(t, uint64(1), p.Congestions)
}

// RFC 9002, section 6.1.2: or when a later one has arrived, and 9/8 of a round trip have passed.
func TestLostByTime(t *testing.T) {
	p, got := sent(2)
	p.acknowledge(t, 81*ms, got, Range{1, 1})
	require.Equal(t, 90*ms, p.At(), "a round trip of 80 ms")
	assert.False(t, p.Tick(89*ms, got))
	assert.Empty(t, got[0])
	assert.False(t, p.Tick(90*ms, got))
	assert.Equal(t, "lost ", got[0])
	assert.Zero(t, p.At())
}

// RFC 9002, section 5.3, and RFC 6298, section 2: the first sample, and the second.
func TestRoundTrip(t *testing.T) {
	var r RoundTrip
	r.add(0, 100*ms, 0)
	assert.Equal(t, RoundTrip{Latest: 100 * ms, Smoothed: 100 * ms, Variation: 50 * ms, Least: 100 * ms}, r)
	r.add(0, 140*ms, 20*ms) // of which the receiver has held it for 20
	assert.Equal(t, RoundTrip{Latest: 140 * ms, Smoothed: 102500000, Variation: 42500000, Least: 100 * ms, spell: spell{samples: 1, least: 140 * ms}}, r)
	r.add(0, 100*ms, 20*ms) // a delay that would make it less than the least is not believed
	assert.Equal(t, 100*ms, r.Least)
}

// RFC 9002, section 6.2: probes after smoothed + 4 × variation + what the receiver may hold back, then
// twice that, and so on. Nothing is held back where two packets are under way. A probe's loss is no congestion by itself.
func TestProbes(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, 100*ms, got, Range{0, 0})
	require.Zero(t, p.At(), "nothing is under way")
	p.Send(1000*ms, 1000, 0, 1)
	wait, held := 100*ms+4*50*ms, 25*ms
	for range 3 {
		at := p.At()
		require.Equal(t, p.sentAt+wait+held, at)
		held = 0
		require.True(t, p.Tick(at, got))
		p.Send(at, 1000, 0, 2)
		wait *= 2
	}
	assert.Equal(t, 3, p.Unanswered())
	assert.Zero(t, p.Congestions)
	p.acknowledge(t, p.sentAt+100*ms, got, Range{4, 4})
	assert.Zero(t, p.Unanswered())
	assert.Equal(t, "lost ", got[1])
	assert.Equal(t, uint64(1), p.Collapses, "three probe times without a word")
}

// A loss that was none is taken back, and more patience is had from then on.
func TestSpuriousLoss(t *testing.T) {
	p, got := sent(10)
	window := p.Window()
	p.acknowledge(t, 50*ms, got, Range{5, 9})
	require.Less(t, p.Window(), window)
	require.Equal(t, uint64(5), p.Losses)
	p.acknowledge(t, 51*ms, got, Range{0, 9})
	assert.Equal(t, uint64(5), p.Spurious)
	assert.GreaterOrEqual(t, p.Window(), window)
	assert.Equal(t, "lost ", got[0], "its owner is told once")
	for n := range 10 {
		p.Send(int64(100+n)*ms, 1000, 0, 10+n)
	}
	p.acknowledge(t, 150*ms, got, Range{15, 19})
	assert.Equal(t, uint64(5), p.Losses, "ten may overtake one now")
}

// A sounding that was called lost, and comes late, was not blamed. So it takes nothing back.
func TestASoundingThatComesLate(t *testing.T) {
	p, got := sent(2)
	p.Send(2*ms, 2000, Sounding, 2)
	for n := 3; n < 10; n++ {
		p.Send(int64(n)*ms, 1000, 0, n)
	}
	p.acknowledge(t, 50*ms, got, Range{3, 9}, Range{1, 1})
	require.Equal(t, "lost ", got[0])
	require.Equal(t, "lost ", got[2])
	reduced := p.Window()
	p.acknowledge(t, 51*ms, got, Range{1, 9})
	assert.Equal(t, reduced, p.Window(), "packet 0 is lost still")
	p.acknowledge(t, 52*ms, got, Range{0, 9})
	assert.Greater(t, p.Window(), reduced)
}

// An acknowledgement of what was never sent, or not seen, is refused whole.
func TestLiars(t *testing.T) {
	p, got := sent(5)
	p.Skip(5 * ms)
	p.Send(6*ms, 1000, 0, 6)
	for want, ranges := range map[error][]Range{
		ErrNeverSent: {{0, 7}},
		ErrSkipped:   {{3, 6}},
		ErrRanges:    {{0, 1}, {3, 4}},
	} {
		require.ErrorIs(t, p.Acknowledge(20*ms, ranges, 0, 0, got), want)
	}
	require.ErrorIs(t, p.Acknowledge(20*ms, []Range{{4, 3}}, 0, 0, got), ErrRanges)
	assert.Empty(t, got)
	p.acknowledge(t, 20*ms, got, Range{6, 6}, Range{0, 4})
	assert.Zero(t, p.UnderWay())
	require.ErrorIs(t, p.Acknowledge(21*ms, []Range{{4, 6}}, 0, 0, got), ErrSkipped, "also later")
}

// What is sent again under its old number (SCTP) gives no round trip, and what comes too early was the
// earlier one: RFC 9260, section 6.3.1, rule C5.
func TestAgain(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, 100*ms, got, Range{0, 0})
	p.Send(200*ms, 1000, Again, 1)
	p.acknowledge(t, 201*ms, got, Range{1, 1})
	assert.Equal(t, 100*ms, p.Latest)
	assert.Equal(t, "arrived ", got[1])
}

// A path whose round trip was 100 ms becomes quicker while all packets repeat others: no answer can be told from one to
// what was sent before. What is lost then is called lost all the same.
func TestQuickerWhileAllRepeat(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, 100*ms, got, Range{0, 0})
	p.Send(200*ms, 1000, Again, 1) // is lost
	for n, now := uint64(2), 210*ms; n < 200 && got[1] == ""; n, now = n+1, now+10*ms {
		p.Send(now, 1000, Again, int(n))
		p.acknowledge(t, now+ms, got, Range{n, n})
	}
	assert.Equal(t, "lost ", got[1])
	now := p.sentAt + 20*ms
	p.Send(now, 1000, 0, 1000)
	p.acknowledge(t, now+2*ms, got, Range{p.Next() - 1, p.Next() - 1})
	assert.Equal(t, 2*ms, p.Least, "the first answer that can be told apart is the measure")
}

// Answers take a hundred times as long all at once, as where a queue has grown. Probes come before them, so that no answer
// tells how long it took. The time until a probe stays as long as it has become, so one message soon comes through with no
// probe, and the round trip is known. RFC 6298, section 5.
func TestProbesWaitForARoundTrip(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, ms, got, Range{0, 0})
	now, trip := 1000*ms, 100*ms
	for n := uint64(1); p.Latest != trip; n++ {
		require.Less(t, n, uint64(20), "the round trip is never known")
		p.Send(now, 1000, 0, int(n))
		first := p.Next() - 1
		for at := p.At(); at < now+trip; at = p.At() {
			require.True(t, p.Tick(at, got))
			p.Send(at, 1000, Again, int(n))
		}
		now += trip
		p.acknowledge(t, now, got, Range{first, p.Next() - 1})
		require.Zero(t, p.Unanswered())
	}
	p.Send(now, 1000, 0, 0)
	require.Greater(t, p.At(), now+trip)
}

// Where all that arrives repeats something, no answer tells how long it took. What else is answered over the path does, and the
// time until a probe is as short as that again.
func TestProbesWhileAllRepeat(t *testing.T) {
	const nothing, before, after = 0, 1, 2 // the answer to the probe
	for asked, soon := range []bool{nothing: false, before: true, after: true} {
		p, got := sent(1)
		p.acknowledge(t, 10*ms, got, Range{0, 0})
		p.Send(20*ms, 1000, 0, 1)
		for range 10 {
			require.True(t, p.Tick(p.At(), got))
			p.Send(p.sentAt, 1000, Again, 1)
		}
		now := p.sentAt
		if asked == before {
			p.Answered(now, 10*ms)
			require.Greater(t, p.At(), now+100*ms, "the probe was not answered")
			require.Less(t, p.At(), now+1000*ms, "the way is there")
		}
		p.acknowledge(t, now+10*ms, got, Range{p.Next() - 1, p.Next() - 1})
		if asked == after {
			p.Answered(now, 10*ms)
		}
		p.Send(now+11*ms, 1000, Again, 2)
		assert.Equal(t, soon, p.At() < now+200*ms, asked)
	}
}

// A sounding packet that is lost is no congestion, and marks are.
func TestWhatIsCongestion(t *testing.T) {
	p, got := sent(0)
	p.Send(0, 3000, Sounding, 0)
	for n := range 5 {
		p.Send(int64(n)*ms, 1000, 0, 1+n)
	}
	p.acknowledge(t, 50*ms, got, Range{1, 5})
	assert.Equal(t, "lost ", got[0])
	assert.Zero(t, p.Congestions)
	p.Send(60*ms, 1000, 0, 6)
	require.NoError(t, p.Acknowledge(100*ms, []Range{{1, 6}}, 0, 1, got))
	assert.Equal(t, uint64(1), p.Congestions)
	require.NoError(t, p.Acknowledge(101*ms, []Range{{1, 6}}, 0, 1, got))
	assert.Equal(t, uint64(1), p.Congestions, "the same mark")
}

func TestAbandon(t *testing.T) {
	p, got := sent(3)
	p.acknowledge(t, 50*ms, got, Range{1, 1})
	p.Abandon(60*ms, got)
	assert.Equal(t, fates{0: "lost ", 1: "arrived ", 2: "lost "}, got)
	assert.Zero(t, p.UnderWay())
	assert.Zero(t, p.At())
}

// The window grows only where it was what kept packets back: an idle sender learns nothing of it.
func TestWindowGrowsOnlyWhenItIsUsed(t *testing.T) {
	p, got := sent(0)
	window := p.Window()
	for n := range 100 {
		now := int64(n) * 100 * ms
		require.NotZero(t, p.Room(now, 1000))
		p.Send(now, 1000, 0, n)
		p.acknowledge(t, now+50*ms, got, Range{uint64(n), uint64(n)})
	}
	assert.Equal(t, window, p.Window())
}

// What is sent again and again in the steady state takes no memory.
func TestNothingIsAllocated(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1000}, NewCubic(1000)), none{}
	var arrivals Arrivals
	ranges, now := make([]Range, 0, maxRanges), int64(0)
	assert.Zero(t, testing.AllocsPerRun(1000, func() {
		for range 8 {
			now += ms
			arrivals.Add(now, p.Send(now, 1000, 0, 0))
		}
		told, held := arrivals.Ranges(now, ranges[:0], maxRanges)
		if p.Acknowledge(now, told, held, 0, got) != nil || p.UnderWay() != 0 {
			panic("it was not acknowledged")
		}
		p.Tick(now, got)
		p.Room(now, 1000)
	}))
}

type none struct{}

func (none) Arrived(int, int, Kind) {}
func (none) Lost(int, int, Kind)    {}

// Against a model that keeps everything: acknowledgements with any ranges, true and untrue.
func FuzzAcknowledge(f *testing.F) {
	f.Add([]byte{10, 3, 2, 200, 5, 1, 0, 30, 7, 7, 255, 1, 1})
	f.Fuzz(func(t *testing.T, data []byte) {
		p, got := NewPath[int](Config{Packet: 1000}, NewCubic(1000)), fates{}
		now, next := int64(0), 0
		for len(data) >= 3 {
			op, a, b := data[0], uint64(data[1]), uint64(data[2])
			data = data[3:]
			now += int64(op>>4) * ms
			switch op & 3 {
			case 0:
				for range a & 7 {
					p.Send(now, 1000, Kind(b&3), next)
					next++
				}
			case 1:
				_ = p.Acknowledge(now, []Range{{a, a + b&15}}, 0, 0, got)
			case 2:
				_ = p.Acknowledge(now, []Range{{a, a + b&15}, {b >> 2, b >> 1}}, time.Duration(a)*time.Millisecond, b, got)
			default:
				p.Tick(now, got)
			}
			for what, fate := range got {
				if fate != "arrived " && fate != "lost " {
					t.Fatalf("packet %d: %s", what, fate)
				}
			}
			if want := 1000 * (next - len(got)); p.UnderWay() != want {
				t.Fatalf("%d under way, want %d", p.UnderWay(), want)
			}
		}
	})
}

// Numbers that have arrived, against a map.
func TestArrivals(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		var a Arrivals
		seen, floor := make(map[uint64]bool), uint64(0)
		for range 300 {
			n := floor + uint64(r.IntN(1+r.IntN(200)))
			has := a.Has(n)
			fresh := a.Add(0, n)
			require.Equal(t, has, !fresh, "seed %d: %d", seed, n)
			require.False(t, fresh && seen[n], "seed %d: %d was taken twice", seed, n)
			require.False(t, !fresh && !seen[n] && n >= a.floor && a.count < maxRanges, "seed %d: %d was not taken", seed, n)
			seen[n] = seen[n] || fresh
			if r.IntN(50) == 0 {
				floor += uint64(r.IntN(100))
				a.Forget(floor)
			}
			ranges, _ := a.Ranges(0, nil, maxRanges)
			for i, x := range ranges {
				// Millions of times, for which testify takes ten seconds.
				if x.First > x.Last || i > 0 && x.Last+1 >= ranges[i-1].First {
					t.Fatalf("seed %d: %v", seed, ranges)
				}
				for n := x.First; n <= x.Last; n++ {
					if !seen[n] {
						t.Fatalf("seed %d: %d of %v has not arrived", seed, n, ranges)
					}
				}
			}
		}
	}
}

// An acknowledgement goes out for every second packet, at once where order is broken or repaired, and
// after a while otherwise (RFC 9002 leaves it to RFC 9000, section 13.2.1; RFC 9260, section 6.2).
func TestWhenToAcknowledge(t *testing.T) {
	const held = 25 * time.Millisecond
	var a Arrivals
	require.Zero(t, a.Due(held))
	a.Add(ms, 0)
	assert.Equal(t, 26*ms, a.Due(held))
	a.Add(2*ms, 1)
	assert.Equal(t, ms, a.Due(held), "two")
	ranges, age := a.Ranges(3*ms, nil, 8)
	assert.Equal(t, []Range{{0, 1}}, ranges)
	assert.Equal(t, time.Millisecond, age)
	a.Add(4*ms, 3)
	assert.Equal(t, 4*ms, a.Due(held), "a hole")
	a.Ranges(4*ms, nil, 8)
	a.Add(5*ms, 4)
	assert.Equal(t, 30*ms, a.Due(held), "the hole is known")
	a.Add(6*ms, 2)
	assert.Equal(t, 5*ms, a.Due(held), "it is filled")
	a.Ranges(6*ms, nil, 8)
	a.Add(7*ms, 2)
	assert.Equal(t, 7*ms, a.Due(held), "twice: the answer was lost")
}

// sound has the search go on over a path, to its end.
func sound(t *testing.T, m *MTU, now int64, carries int) {
	for range 100 {
		size := m.Sound(now)
		switch {
		case size == 0:
			return
		case size <= carries:
			m.Passed(size)
		default:
			m.Lost(size)
		}
	}
	t.Fatal("there is no end to it")
}

// The search finds what a path carries, whatever that is, and finds it again when it shrinks.
func TestMTU(t *testing.T) {
	for carries := 1200; carries <= 9000; carries += 7 {
		m := NewMTU(512, 1200, 9000)
		sound(t, &m, ms, carries)
		require.LessOrEqual(t, m.Size(), carries)
		require.Greater(t, m.Size(), carries-near)
		if carries > 1300 {
			require.True(t, m.Shrunk())
			require.Equal(t, 1200, m.Size())
			sound(t, &m, 2*ms, carries-100)
			require.LessOrEqual(t, m.Size(), carries-100)
			require.Greater(t, m.Size(), carries-100-near)
		}
		sound(t, &m, soundAgain+10*ms, 9000)
		require.Equal(t, 9000, m.Size(), "longer ones are tried again, later")
	}
}

// A path that carries less than every one should is found to do so, and when that is over it is used again as it was, soon.
func TestMTUOfLessThanThereShouldBe(t *testing.T) {
	for carries := 512; carries < 1200; carries += 7 {
		m := NewMTU(512, 1200, 9000)
		require.True(t, m.Shrunk())
		require.Equal(t, 512, m.Size())
		require.False(t, m.Shrunk())
		sound(t, &m, ms, carries)
		require.LessOrEqual(t, m.Size(), carries)
		require.Greater(t, m.Size(), carries-near)
		sound(t, &m, soundSoon+2*ms, 9000)
		require.Equal(t, 9000, m.Size())
	}
	m := NewMTU(512, 400, 300)
	require.Equal(t, 512, m.Size())
	require.False(t, m.Shrunk())
}

// A path that was given up and is used again waits for no longer than any other.
func TestAbandoned(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, 100*ms, got, Range{0, 0})
	p.Send(200*ms, 1000, 0, 1)
	wait := p.At() - 200*ms
	for range 3 {
		require.True(t, p.Tick(p.At(), got))
	}
	p.Abandon(5000*ms, got)
	require.Equal(t, "lost ", got[1])
	assert.Zero(t, p.Unanswered())
	assert.Zero(t, p.At())
	p.Send(9000*ms, 1000, 0, 2)
	assert.Equal(t, 9000*ms+wait, p.At())
}

// What the system has not taken was not sent: it is the owner's again, and nothing is said of the network. Its numbers do not come
// again, and may be acknowledged: some may have been sent all the same.
func TestRetract(t *testing.T) {
	p, got := sent(10)
	before := p.Room(10*ms, 1<<20)
	p.Retract(7, got)
	assert.Equal(t, fates{7: "lost ", 8: "lost ", 9: "lost "}, got)
	assert.Equal(t, 7000, p.UnderWay())
	assert.Equal(t, before+3000, p.Room(10*ms, 1<<20))
	assert.Equal(t, uint64(10), p.Send(11*ms, 1000, 0, 10))
	p.acknowledge(t, 60*ms, got, Range{8, 10}, Range{0, 6})
	assert.Equal(t, "arrived ", got[10])
	assert.Equal(t, "lost ", got[8])
	assert.Equal(t, uint64(11), p.Floor(), "nothing of what was not taken is kept")
	assert.Equal(t, Counters{Sent: 8, Arrivals: 8}, p.Counters)
	p.Retract(p.Next(), got)
	assert.Zero(t, p.UnderWay())
}

// What the system has not taken has overtaken nothing, whatever its number.
func TestRetractedOvertakesNothing(t *testing.T) {
	p, got := sent(40)
	p.Retract(1, got)
	for n := 40; n < 43; n++ {
		p.Send(ms, 1000, 0, n)
	}
	p.acknowledge(t, 60*ms, got, Range{40, 41})
	require.Empty(t, got[0], "it is overtaken by two")
	p.acknowledge(t, 60*ms, got, Range{40, 42})
	require.Equal(t, "lost ", got[0], "and by a third one")
	require.Equal(t, uint64(leastOvertaking), p.reorder.packets)
	p.acknowledge(t, 61*ms, got, Range{40, 42}, Range{0, 0})
	require.Equal(t, uint64(1), p.Spurious)
	require.Equal(t, uint64(leastOvertaking+2), p.reorder.packets, "so more may overtake one")
}

// A probe repeats what has been under way for longest, and the next one what comes then.
func TestReclaim(t *testing.T) {
	p, got := sent(4)
	p.Send(4*ms, 3000, Sounding, 4)
	p.acknowledge(t, 50*ms, got, Range{0, 0})
	carries := func(what int) bool { return what != 0 }
	for _, want := range []int{1, 2, 3} {
		what, found := p.Reclaim(carries)
		require.True(t, found)
		assert.Equal(t, want, what)
	}
	_, found := p.Reclaim(carries)
	assert.False(t, found)
	assert.Equal(t, 6000, p.UnderWay())
	p.acknowledge(t, 60*ms, got, Range{0, 3})
	assert.Equal(t, 3000, p.UnderWay())
}

// Where a probe finds no room, the next one waits for its time too, and is not due again at once.
func TestAProbeThatFindsNoRoom(t *testing.T) {
	p, got := sent(1)
	for range 40 {
		at := p.At()
		require.True(t, p.Tick(at, got))
		require.Greater(t, p.At(), at)
	}
}

// Packets that are sent one after the other, while nothing is answered, do not put the probe off.
func TestProbesWhileMoreIsSent(t *testing.T) {
	p, got := sent(1)
	p.acknowledge(t, 50*ms, got, Range{0, 0})
	probes := 0
	for n := range 300 {
		now := int64(100+10*n) * ms
		if p.Tick(now, got) {
			probes++
		}
		p.Send(now, 10, 0, n)
	}
	assert.GreaterOrEqual(t, probes, 3, "in three seconds, with a round trip of 50 ms")
	assert.Equal(t, probes, p.Unanswered())
}

// Long packets that are lost in a row while shorter ones arrive are counted: the path may have come to carry
// only those. One that arrives ends that.
func TestMissed(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1400, Least: 1200}, NewReno(1400)), fates{}
	at := func(n int, size int) { p.Send(int64(n)*ms, size, 0, n) }
	for n := range 10 {
		at(n, 1400-400*(n&1)) // the even ones are long
	}
	for n := 1; n < 10; n += 2 {
		p.acknowledge(t, 50*ms, got, Range{uint64(n), uint64(n)})
	}
	p.acknowledge(t, 80*ms, got, Range{9, 9})
	assert.False(t, p.Tick(80*ms, got))
	assert.Equal(t, 5, p.Missed())
	at(10, 1400)
	at(11, 1400)
	p.acknowledge(t, 130*ms, got, Range{11, 11})
	assert.Zero(t, p.Missed())
	assert.Zero(t, func() int { p.Tick(190*ms, got); return p.Missed() }(), "10 was sent before 11")
}

// That packets arrive which are shorter than those that are lost, if longer than the base, says nothing of the others. What is lost
// and no longer than those that arrive is not lost for its length.
func TestMissedWhileOthersArrive(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1400, Least: 1200}, NewReno(1400)), fates{}
	for n := range uint64(20) {
		p.Send(int64(n)*ms, 1400-150*int(n&1), 0, int(n)) // the even ones are too long
		if n%2 == 1 && n != 11 {
			p.acknowledge(t, int64(n+1)*ms, got, Range{n, n})
		}
	}
	p.Tick(30*ms, got)
	assert.Equal(t, "lost ", got[11])
	assert.Equal(t, 10, p.Missed())
	p.Send(30*ms, 1400, 0, 20)
	p.acknowledge(t, 31*ms, got, Range{20, 20})
	assert.Zero(t, p.Missed())
}

// What was taken back has used neither the window nor the time in which nothing was sent.
func TestRetractedUse(t *testing.T) {
	idle := &idleReno{Reno: NewReno(1000)}
	p, got := NewPath[int](Config{Packet: 1000}, idle), fates{}
	p.Send(1, 1000, 0, 0)
	p.acknowledge(t, 50*ms, got, Range{0, 0})
	for n := range 8 {
		p.Send(100*ms, 1000, 0, n)
	}
	p.Retract(1, got)
	window := p.Window()
	for n := range 7 {
		now := int64(n+2) * 100 * ms
		p.Send(now, 1000, 0, n)
		p.acknowledge(t, now+50*ms, got, Range{uint64(n) + 9, uint64(n) + 9})
	}
	assert.Equal(t, window, p.Window(), "one packet at a time")
	assert.Equal(t, 50*ms+6*50*ms, idle.span)
}

type idleReno struct {
	*Reno
	span int64
}

func (r *idleReno) Idle(span int64) { r.span += span }

// However short the time is that is asked for, probes are not sent as fast as the processor can.
func TestProbesTakeTime(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1000, MostProbe: 1}, NewReno(1000)), fates{}
	p.Send(1, 1000, 0, 0)
	for range 3 {
		at := p.At()
		assert.GreaterOrEqual(t, at-p.sentAt, ms)
		assert.True(t, p.Tick(at, got))
	}
}

// What was sent before a round trip was known was not paced. It does not keep from sending what is sent when one is known, over a path that is slow.
func TestNothingIsOwedToThePaceOfBefore(t *testing.T) {
	p, got := NewPath[int](Config{Packet: 1000}, NewReno(1000)), fates{}
	now := ms
	for range 20 {
		for p.Room(now, 1000) == 1000 {
			p.Send(now, 1000, 0, 0)
		}
		now += 100 * ms
		p.Abandon(now, got)
	}
	p.Answered(now, 900*ms)
	require.LessOrEqual(t, p.Free(), now)
	require.Equal(t, 1000, p.Room(now, 1000))
}
