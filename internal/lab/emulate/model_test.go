package emulate

import (
	"cmp"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// A sending is what a test gives a switch.
type sending struct {
	at       time.Duration
	from, to int
	size     int
}

// modelNIC is a transmitter that keeps all it has ever sent.
type modelNIC struct {
	NIC
	sent []time.Duration
}

func (m *modelNIC) admit(at, from time.Duration, size int) (time.Duration, bool) {
	if m.Rate == 0 {
		return at, true
	}
	waiting, free := 0, time.Duration(-1<<62)
	for _, t := range m.sent {
		free = max(free, t)
		if t > at {
			waiting++
		}
	}
	q := m.Queue.OrDefault()
	backlog := float64(free-at)*float64(m.Rate)/8e9 + float64(size)
	if waiting > 0 && (q.Frames > 0 && waiting >= q.Frames || q.Bytes > 0 && backlog > float64(q.Bytes)) {
		return 0, false
	}
	free = max(free, from) + m.Rate.duration(size)
	m.sent = append(m.sent, free)
	return free, true
}

// model is a switch whose paths do nothing by chance: it decides on one frame
// after the other, without a calendar.
func model(c Config, sendings []sending) (out []Delivery) {
	var outs, ins []modelNIC
	for _, n := range c.NICs {
		outs, ins = append(outs, modelNIC{NIC: n}), append(ins, modelNIC{NIC: n})
	}
	type arrival struct {
		sending
		frame Frame
		at    time.Duration
	}
	var arrivals []arrival
	for i, s := range sendings {
		if leaves, ok := outs[s.from].admit(s.at, s.at, s.size); ok {
			p := c.Path(s.from, s.to)
			a := arrival{s, Frame(i), leaves + p.Delay}
			for range 1 + int(p.Duplicate) - int(p.Loss.Good) {
				arrivals = append(arrivals, a)
			}
		}
	}
	slices.SortStableFunc(arrivals, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	for _, a := range arrivals {
		in := &ins[a.to]
		at, ok := in.admit(a.at, a.at-in.Rate.duration(a.size), a.size)
		if ok {
			out = append(out, Delivery{Frame: a.frame, To: a.to, Due: max(at, a.at)})
		} else {
			out = append(out, Delivery{Frame: a.frame, To: Dropped, Due: a.at})
		}
	}
	return out
}

// play gives a switch what a test sends, at the time at which it is sent, and
// collects what comes out.
func play(s *Switch, sendings []sending) (out []Delivery) {
	batch := make([]Delivery, 0, 3) // few, so that it gets full
	drain := func(until time.Duration) {
		for {
			got := s.Due(until, batch)
			out = append(out, got...)
			if len(got) < cap(batch) {
				return
			}
		}
	}
	for i, x := range sendings {
		drain(x.at - 1)
		s.Send(x.at, x.from, x.to, Frame(i), x.size)
	}
	drain(1 << 62)
	return out
}

// drawSendings draws frames in bursts, which fill queues, and with pauses.
func drawSendings(t *rapid.T, hosts int) (sendings []sending) {
	at := time.Duration(0)
	for range rapid.IntRange(0, 200).Draw(t, "frames") {
		at += time.Duration(rapid.SampledFrom([]int{0, 0, 0, 1, 1000, 12_000, 12_001, 1_000_000}).Draw(t, "pause"))
		sendings = append(sendings, sending{
			at: at, from: rapid.IntRange(0, hosts-1).Draw(t, "from"), to: rapid.IntRange(0, hosts-1).Draw(t, "to"),
			size: rapid.SampledFrom([]int{60, 1514, 700}).Draw(t, "size"),
		})
	}
	return sendings
}

func drawNIC(t *rapid.T) NIC {
	return NIC{
		Rate: rapid.SampledFrom([]Rate{0, 10 * Mbit, 100 * Mbit, Gbit, 333_333_333}).Draw(t, "rate"),
		Queue: Queue{
			Frames: rapid.SampledFrom([]int{0, 1, 2, 10}).Draw(t, "queue frames"),
			Bytes:  rapid.SampledFrom([]int{0, 1, 2000, 10_000}).Draw(t, "queue bytes"),
		},
	}
}

func TestSwitchDoesWhatTheModelDoes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		hosts := rapid.IntRange(1, 4).Draw(t, "hosts")
		c := Config{}
		paths := make([]Path, hosts*hosts)
		for range hosts {
			c.NICs = append(c.NICs, drawNIC(t))
		}
		for i := range paths {
			paths[i] = Path{
				Delay:     time.Duration(rapid.SampledFrom([]int{0, 1, 12_000, 5_000_000}).Draw(t, "delay")),
				Duplicate: rapid.SampledFrom([]float64{0, 0, 0, 1}).Draw(t, "duplicate"),
			}
			if paths[i].Duplicate == 0 {
				paths[i].Loss = Independent(rapid.SampledFrom([]float64{0, 0, 0, 1}).Draw(t, "loss"))
			}
		}
		c.Path = func(from, to int) Path { return paths[from*hosts+to] }
		sendings := drawSendings(t, hosts)
		s, err := New(c)
		require.NoError(t, err)

		got := play(s, sendings)
		require.True(t, slices.IsSortedFunc(got, func(a, b Delivery) int { return cmp.Compare(a.Due, b.Due) }), "in the order of time")
		want := model(c, sendings)
		order := func(a, b Delivery) int {
			return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Frame, b.Frame), cmp.Compare(a.To, b.To))
		}
		slices.SortFunc(got, order)
		slices.SortFunc(want, order)
		require.Equal(t, want, got)
	})
}

// What holds whatever chance decides.
func TestEveryFrameIsAccountedFor(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const hosts = 3
		share := rapid.SampledFrom([]float64{0, 0.1, 0.5, 1})
		p := Path{
			Delay: 2 * time.Millisecond, Jitter: time.Duration(rapid.IntRange(0, 2_000_000).Draw(t, "jitter")),
			Loss: Independent(share.Draw(t, "loss")), Reorder: share.Draw(t, "reorder"),
			Duplicate: share.Draw(t, "duplicate"), Corrupt: share.Draw(t, "corrupt"),
		}
		nic := drawNIC(t)
		s, err := New(Uniform(hosts, Link{nic, p}, rapid.Uint64().Draw(t, "seed")))
		require.NoError(t, err)
		sendings := drawSendings(t, hosts)

		var sum Counters
		seen := map[Frame]int{}
		for _, d := range play(s, sendings) {
			x := sendings[d.Frame]
			require.GreaterOrEqual(t, d.Due, x.at+p.Delay-p.Jitter+nic.Rate.duration(x.size), "no frame is early")
			if d.To != Dropped {
				require.Equal(t, x.to, d.To)
			}
			seen[d.Frame]++
			require.LessOrEqual(t, seen[d.Frame], 2)
		}
		for from := range hosts {
			for to := range hosts {
				c := s.Counters(from, to)
				require.Equal(t, c.Sent+c.Duplicated, c.Lost+c.DroppedOut+c.DroppedIn+c.Delivered, "%d → %d: %+v", from, to, c)
				sum.Add(c)
			}
		}
		require.Equal(t, uint64(len(sendings)), sum.Sent)
		if _, more := s.Next(); more {
			t.Fatal("something is still on its way")
		}
	})
}

func TestFramesStayInOrderButThoseHeldBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := Path{Delay: 5 * time.Millisecond, Jitter: 5 * time.Millisecond, Loss: Independent(0.1), Duplicate: 0.1}
		s, err := New(Uniform(3, Link{drawNIC(t), p}, rapid.Uint64().Draw(t, "seed")))
		require.NoError(t, err)
		sendings := drawSendings(t, 3)
		last := map[[2]int]Frame{}
		for _, d := range play(s, sendings) {
			if d.To == Dropped {
				continue
			}
			pair := [2]int{sendings[d.Frame].from, d.To}
			require.GreaterOrEqual(t, d.Frame, last[pair], "a frame has overtaken another of its path")
			last[pair] = d.Frame
		}
	})
}

// In no stretch of time does more come out than the rate lets through.
func TestRateIsNeverExceeded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rate := rapid.SampledFrom([]Rate{10 * Mbit, Gbit, 333_333_333}).Draw(t, "rate")
		p := Path{Delay: time.Millisecond, Jitter: time.Duration(rapid.IntRange(0, 1_000_000).Draw(t, "jitter")), Reorder: 0.1, Duplicate: 0.1}
		s, err := New(Uniform(4, Link{NIC{Rate: rate}, p}, 1))
		require.NoError(t, err)
		sendings := drawSendings(t, 4)
		for i := range sendings {
			sendings[i].to = 0
		}
		out := slices.DeleteFunc(play(s, sendings), func(d Delivery) bool { return d.To == Dropped })
		for first := range out {
			sum := time.Duration(0)
			for _, d := range out[first+1:] {
				sum += rate.duration(sendings[d.Frame].size)
				if d.Due-out[first].Due < sum { // package require is slow for so many
					t.Fatalf("the frames after the %dth took %v, less than %v", first, d.Due-out[first].Due, sum)
				}
			}
		}
	})
}
