package recovery

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/test/need"
)

// A network of senders, which have as much to send as the window takes, and one receiver, host 0. Time is
// virtual.
type simulation struct {
	t       testing.TB
	net     network
	awake   func(host int, at time.Duration) time.Duration // when a host goes on that would do something at a time
	now     time.Duration
	flows   []*flow
	frames  [frames]frame // a ring: no more of them are on their way
	next    int
	arrived []emulate.Delivery
}

type network interface {
	Send(at time.Duration, from, to int, frame emulate.Frame, size int) (copies, flip int)
	Next() (at time.Duration, ok bool)
	Due(now time.Duration, out []emulate.Delivery) []emulate.Delivery
}

const frames = 1 << 16

type frame struct {
	flow   *flow
	number uint64
	thing  uint64
	ranges []Range // of an acknowledgement
	held   time.Duration
}

// thing is what a packet carries: how often it is under way, and whether it has arrived.
type thing struct {
	underWay int
	sends    int
	sent     int64
	arrived  bool
	tag      uint8
}

type flow struct {
	*Path[uint64]
	sim      *simulation
	host     int
	arrivals Arrivals
	left     int  // packets that are still to be sent for the first time
	quiet    bool // sends nothing for now
	unpaced  bool // sends as soon as the window has room
	again    []uint64
	paused   []uint64 // lost again and again: not yet in again
	tags     []uint8  // of the things to come, where each that arrives makes room for one of its tag
	withheld bool     // all that has tag 0 is lost, however often it is sent
	things   []thing  // by number: what there was to send
	goodput  int      // of them, how many have arrived
}

const (
	packetSize = 1400
	onTheWire  = packetSize + 28 + emulate.EthernetHeader
	ackSize    = 80
	heldBack   = 5 * time.Millisecond
)

func simulate(t testing.TB, c emulate.Config) *simulation {
	net, err := emulate.New(c)
	require.NoError(t, err)
	return simulateOn(t, net)
}

func simulateOn(t testing.TB, net network) *simulation {
	awake := func(_ int, at time.Duration) time.Duration { return at }
	return &simulation{t: t, net: net, awake: awake, arrived: make([]emulate.Delivery, 0, 64)}
}

// add adds a sender, with so many packets to send.
func (s *simulation) add(control Controller, packets int) *flow {
	f := &flow{sim: s, host: len(s.flows) + 1, left: packets}
	f.Path = NewPath[uint64](Config{Packet: packetSize, Held: heldBack}, control)
	s.flows = append(s.flows, f)
	return f
}

func (s *simulation) send(from, to, size int, what frame) {
	name := s.next % frames
	s.next++
	s.frames[name] = what
	s.net.Send(s.now, from, to, emulate.Frame(name), size)
}

// run lets time pass, until a time or until all is sent.
func (s *simulation) run(end time.Duration) {
	for s.now < end {
		done := true
		for _, f := range s.flows {
			f.fill()
			done = done && f.left == 0 && f.UnderWay() == 0 && len(f.again) == 0 && len(f.paused) == 0
		}
		if done {
			return
		}
		next := end
		if at, ok := s.net.Next(); ok {
			next = min(next, at)
		}
		for _, f := range s.flows {
			next = min(next, f.due())
		}
		s.now = max(next, s.now)
		s.arrived = s.net.Due(s.now, s.arrived[:0])
		for _, d := range s.arrived {
			what := s.frames[d.Frame]
			if d.To != emulate.Dropped {
				what.flow.receives(d.To, what)
			}
		}
		for _, f := range s.flows {
			f.timers()
		}
	}
}

func (f *flow) due() time.Duration {
	at := f.sim.awake(f.host, max(f.sends(), f.sim.now))
	if t := f.arrivals.Due(heldBack); t != 0 {
		at = min(at, f.sim.awake(0, max(time.Duration(t), f.sim.now)))
	}
	return at
}

// sends is when there is something to do for the sender.
func (f *flow) sends() time.Duration {
	at := time.Duration(1 << 62)
	if t := f.At(); t != 0 {
		at = min(at, time.Duration(t))
	}
	for _, what := range f.paused {
		at = min(at, time.Duration(f.resumes(what)))
	}
	if !f.quiet && !f.unpaced && (f.left > 0 || len(f.again) > 0) && f.Window()-f.UnderWay() >= packetSize {
		at = min(at, time.Duration(f.Free()))
	}
	return at
}

// sleeps reports whether a host does nothing.
func (s *simulation) sleeps(host int) bool { return s.awake(host, s.now) > s.now }

func (f *flow) fill() {
	for !f.quiet && !f.sim.sleeps(f.host) && (len(f.again) > 0 || f.left > 0) && f.room() {
		f.transmit()
	}
}

func (f *flow) room() bool {
	if f.unpaced {
		return f.Window()-f.UnderWay() >= packetSize
	}
	return f.Room(int64(f.sim.now), packetSize) == packetSize
}

func (f *flow) transmit() {
	var what uint64
	kind := Kind(0)
	switch {
	case len(f.again) > 0:
		what, f.again, kind = f.again[0], f.again[1:], Repeat
	case f.left > 0:
		what = uint64(len(f.things))
		f.things = append(f.things, thing{})
		f.left--
		if len(f.tags) > 0 {
			f.things[what].tag, f.tags = f.tags[0], f.tags[1:]
		}
	default:
		what = uint64(len(f.things) - 1) // a probe
	}
	x := &f.things[what]
	x.underWay++
	x.sends++
	x.sent = int64(f.sim.now)
	n := f.Send(x.sent, packetSize, kind, what)
	f.sim.send(f.host, 0, onTheWire, frame{flow: f, number: n, thing: what})
}

// resumes is when a thing may be sent once more that is lost.
func (f *flow) resumes(what uint64) int64 {
	x := &f.things[what]
	return x.sent + f.Pause(x.sends)
}

func (f *flow) receives(host int, what frame) {
	if host == 0 {
		if f.withheld && f.things[what.thing].tag == 0 {
			return
		}
		f.arrivals.Add(int64(f.sim.now), what.number)
		f.answer()
		return
	}
	if err := f.Acknowledge(int64(f.sim.now), what.ranges, what.held, 0, f); err != nil { // a million times, for which testify takes a second
		f.sim.t.Fatal(err)
	}
}

func (f *flow) answer() {
	if due := f.arrivals.Due(heldBack); due != 0 && due <= int64(f.sim.now) && !f.sim.sleeps(0) {
		ranges, held := f.arrivals.Ranges(int64(f.sim.now), nil, maxRanges)
		f.sim.send(0, f.host, ackSize, frame{flow: f, ranges: ranges, held: held})
	}
}

func (f *flow) timers() {
	f.answer()
	if f.sim.sleeps(f.host) {
		return
	}
	f.paused = slices.DeleteFunc(f.paused, func(what uint64) bool {
		if f.resumes(what) > int64(f.sim.now) {
			return false
		}
		f.again = append(f.again, what)
		return true
	})
	for f.Tick(int64(f.sim.now), f) {
		f.transmit()
	}
}

func (f *flow) Arrived(what uint64, _ int, _ Kind) {
	x := &f.things[what]
	x.underWay--
	if !x.arrived {
		x.arrived = true
		f.goodput++
		if f.tags != nil {
			f.tags = append(f.tags, x.tag)
			f.left++
		}
	}
}

func (f *flow) Lost(what uint64, _ int, _ Kind) {
	x := &f.things[what]
	if x.underWay--; x.underWay == 0 && !x.arrived {
		f.paused = append(f.paused, what)
	}
}

// link is hosts that are joined by links of a rate and a delay one way, with a queue of so many bytes.
func link(hosts int, rate emulate.Rate, delay time.Duration, queue int, change func(*emulate.Path)) emulate.Config {
	p := emulate.Path{Delay: delay}
	if change != nil {
		change(&p)
	}
	return emulate.Uniform(hosts, emulate.Link{NIC: emulate.NIC{Rate: rate, Queue: emulate.Queue{Bytes: queue, Frames: 1 << 15}}, Path: p}, 1)
}

// product is the bandwidth × delay of a link: what is on its way when it is full.
func product(rate emulate.Rate, delay time.Duration) int {
	return int(float64(rate) / 8 * (2 * delay).Seconds())
}

// share is how much of a rate a flow had.
func (f *flow) share(rate emulate.Rate) float64 {
	return float64(f.goodput*onTheWire*8) / f.sim.now.Seconds() / float64(rate)
}

func (f *flow) String() string {
	return fmt.Sprintf("%d lost of %d, %d spurious, %d congestions, %d collapses, %d probes, window %d, round trip %v",
		f.Losses, f.Sent, f.Spurious, f.Congestions, f.Collapses, f.Probes, f.Window(), time.Duration(f.Smoothed))
}

var controllers = map[string]func() Controller{
	"reno":  func() Controller { return NewReno(packetSize) },
	"cubic": func() Controller { return NewCubic(packetSize) },
}

// eachController runs a test for each kind of congestion control.
func eachController(t *testing.T, test func(*testing.T, func() Controller)) {
	for name, control := range controllers {
		t.Run(name, func(t *testing.T) { test(t, control) })
	}
}

const endless = 1 << 30

// A queue of one bandwidth × delay is enough to fill a link, over four orders of magnitude of it.
func TestLinkIsFilled(t *testing.T) {
	eachController(t, func(t *testing.T, control func() Controller) {
		for _, c := range []struct {
			rate        emulate.Rate
			delay, time time.Duration
		}{
			{10 * emulate.Mbit, 5 * time.Millisecond, 5 * time.Second},
			{100 * emulate.Mbit, 5 * time.Millisecond, 3 * time.Second},
			{100 * emulate.Mbit, 20 * time.Millisecond, 4 * time.Second},
			{1000 * emulate.Mbit, 50 * time.Microsecond, 300 * time.Millisecond},
		} {
			s := simulate(t, link(2, c.rate, c.delay, max(product(c.rate, c.delay), 20*onTheWire), nil))
			f := s.add(control(), endless)
			s.run(c.time / 2) // slow start, and what it does to the queue
			before := f.goodput
			took := c.time * time.Duration(need.Times(1, 10))
			s.run(s.now + took)
			share := float64((f.goodput-before)*onTheWire*8) / took.Seconds() / float64(c.rate)
			assert.Greater(t, share, 0.98, "%v, %v: %v", c.rate, c.delay, f)
			assert.Zero(t, f.Spurious, "%v, %v: %v", c.rate, c.delay, f)
		}
	})
}

// Under random loss a flow has what the response function of Reno says at least: 1.22 packets a round
// trip by the root of the loss (Mathis and others, 1997). A quarter is taken off for what that leaves out.
func TestRandomLoss(t *testing.T) {
	const rate, delay = 100 * emulate.Mbit, 10 * time.Millisecond
	eachController(t, func(t *testing.T, control func() Controller) {
		for _, loss := range []float64{0.001, 0.01, 0.05} {
			s := simulate(t, link(2, rate, delay, product(rate, delay), func(p *emulate.Path) { p.Loss = emulate.Independent(loss) }))
			f := s.add(control(), endless)
			s.run(20 * time.Second)
			packets := float64(f.goodput) / s.now.Seconds() * (2 * delay).Seconds()
			assert.Greater(t, packets, 0.75*1.22/math.Sqrt(loss), "%v: %v", loss, f)
			assert.LessOrEqual(t, f.Spurious, f.Sent/1000, "%v: %v", loss, f)
		}
	})
}

// A path that reorders, or doubles, is not taken for one that loses, for long.
func TestReordering(t *testing.T) {
	const rate, delay = 100 * emulate.Mbit, 10 * time.Millisecond
	eachController(t, func(t *testing.T, control func() Controller) {
		for name, change := range map[string]func(*emulate.Path){
			"by 3 ms":  func(p *emulate.Path) { p.Reorder, p.ReorderBy = 0.05, 3*time.Millisecond },
			"by 10 ms": func(p *emulate.Path) { p.Reorder, p.ReorderBy = 0.01, 10*time.Millisecond },
			"jitter":   func(p *emulate.Path) { p.Jitter = 5 * time.Millisecond },
			"doubles":  func(p *emulate.Path) { p.Duplicate = 0.1 },
		} {
			s := simulate(t, link(2, rate, delay, product(rate, delay), change))
			f := s.add(control(), endless)
			s.run(5 * time.Second)
			assert.Greater(t, f.share(rate), 0.9, "%s: %v", name, f)
		}
	})
}

// Flows through one bottleneck have as much each: Jain's index is 1 where all are equal.
func TestFairness(t *testing.T) {
	const flows, rate, delay = 8, 100 * emulate.Mbit, 10 * time.Millisecond
	eachController(t, func(t *testing.T, control func() Controller) {
		s := simulate(t, link(1+flows, rate, delay, product(rate, delay), nil))
		for range flows {
			s.add(control(), endless)
		}
		s.run(time.Duration(need.Daily(15, 30)) * time.Second)
		sum, squares := 0.0, 0.0
		for _, f := range s.flows {
			sum, squares = sum+f.share(rate), squares+f.share(rate)*f.share(rate)
		}
		assert.Greater(t, sum*sum/flows/squares, 0.95)
		assert.Greater(t, sum, 0.95)
	})
}

// The last packets of a flow, with nothing behind them to show that they are lost, are brought back by
// probes: within some round trips, not within seconds.
func TestTail(t *testing.T) {
	const delay = 10 * time.Millisecond
	for seed := range uint64(need.Daily(100, 200)) {
		c := link(2, 100*emulate.Mbit, delay, 1<<20, func(p *emulate.Path) { p.Loss = emulate.Independent(0.1) })
		c.Seed = seed
		s := simulate(t, c)
		f := s.add(NewCubic(packetSize), 30)
		s.run(time.Minute)
		require.Equal(t, 30, f.goodput, "seed %d: %v", seed, f)
		require.Less(t, s.now, 5*time.Second, "seed %d: %v", seed, f)
	}
}

// After an outage a flow goes on, and collapses once, not with each packet of it.
func TestOutage(t *testing.T) {
	const rate, delay = 100 * emulate.Mbit, 10 * time.Millisecond
	eachController(t, func(t *testing.T, control func() Controller) {
		c := link(2, rate, delay, product(rate, delay), nil)
		c.Down = emulate.Schedule{Outages: []emulate.Outage{{At: 2 * time.Second, For: 2 * time.Second}}}
		s := simulate(t, c)
		f := s.add(control(), endless)
		s.run(4 * time.Second)
		before := f.goodput
		s.run(10 * time.Second)
		assert.LessOrEqual(t, f.Collapses, uint64(1))
		assert.Greater(t, float64((f.goodput-before)*onTheWire*8)/6/float64(rate), 0.5, f.String())
	})
}

// Whatever a network does, everything arrives in the end, what is under way is what was sent and has no
// fate yet, and acknowledgements are not taken for more than they say.
func TestWhateverTheNetworkDoes(t *testing.T) {
	for seed := range need.Seeds(t, 200, 100_000) {
		r := rand.New(rand.NewPCG(seed, 0x4EC0))
		rate := emulate.Mbit << r.IntN(11)
		delay := time.Duration(1+r.IntN(1<<r.IntN(18))) * time.Microsecond
		c := link(2, rate, delay, onTheWire<<r.IntN(10), func(p *emulate.Path) {
			p.Loss = emulate.Independent(r.Float64() * 0.4 * float64(r.IntN(2)))
			p.Jitter = time.Duration(r.Int64N(int64(delay)) * int64(r.IntN(2)))
			p.Reorder, p.ReorderBy = r.Float64()*float64(r.IntN(2)), time.Duration(1+r.Int64N(int64(4*delay)))
			p.Duplicate = r.Float64() * float64(r.IntN(2))
		})
		c.Seed = seed
		s := simulate(t, c)
		things := 1 + r.IntN(1<<r.IntN(12))
		f := s.add([]Controller{NewReno(packetSize), NewCubic(packetSize)}[r.IntN(2)], things)
		for f.goodput < things {
			s.run(s.now + time.Second)
			sum := 0
			for _, x := range f.things {
				sum += x.underWay * packetSize
			}
			require.Equal(t, sum, f.UnderWay(), "seed %d", seed)
			require.GreaterOrEqual(t, f.Window(), 2*packetSize, "seed %d", seed)
			require.Less(t, s.now, 24*time.Hour, "seed %d: %v", seed, f) // with 40 % lost both ways, and a minute between probes
		}
	}
}

// Who sends less than the path carries is seldom held up by the window, though losses reduce it and there is little to show
// that it might grow.
func TestASteadyFlowHasRoom(t *testing.T) {
	const every = 8 * time.Millisecond
	eachController(t, func(t *testing.T, control func() Controller) {
		waits, all := 0, 0
		for seed := range uint64(10) {
			c := link(2, 100*emulate.Mbit, 10*time.Millisecond, 1<<20, func(p *emulate.Path) { p.Loss = emulate.Independent(0.02) })
			c.Seed = seed
			s := simulate(t, c)
			f := s.add(control(), 0)
			for range 1000 {
				f.left++
				if f.fill(); f.left > 0 {
					waits++
				}
				all++
				end := s.now + every
				s.run(end)
				s.now = end
			}
		}
		assert.Less(t, waits, all/20, "of %d", all)
	})
}

// While some of what a flow has under way is lost however often it is sent, the rest keeps its throughput: the loss of
// what is sent again is the loss that is known already.
func TestWhatIsWithheldDelaysNothingElse(t *testing.T) {
	const (
		rate     = 4 * emulate.Mbit
		tags     = 10
		underWay = 8 // things of a tag that have not arrived
	)
	eachController(t, func(t *testing.T, control func() Controller) {
		for _, delay := range []time.Duration{100 * time.Microsecond, 10 * time.Millisecond, 100 * time.Millisecond} {
			s := simulate(t, link(2, rate, delay, 200*onTheWire, nil))
			f := s.add(control(), 0)
			f.tags = make([]uint8, 0, tags*underWay)
			for i := range tags * underWay {
				f.tags = append(f.tags, uint8(i%tags))
				f.left++
			}
			run := func(d time.Duration) (arrived int) {
				before := f.goodput
				s.run(s.now + d)
				return f.goodput - before
			}
			run(3 * time.Second)
			with := run(5*time.Second) * (tags - 1) / tags
			f.withheld = true
			without := run(5 * time.Second)
			f.withheld = false
			run(2 * time.Second)
			after := run(5*time.Second) * (tags - 1) / tags
			assert.Greater(t, float64(without), 0.9*float64(with), "%v: %v", delay, f)
			assert.Greater(t, float64(after), 0.9*float64(with), "%v: %v", delay, f)
		}
	})
}
