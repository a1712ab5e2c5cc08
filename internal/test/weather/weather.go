// Package weather has networks for simulations that change from one moment to the next: round trips become a hundred times as
// long, or as short, nothing gets through, or nothing in one direction, everything comes twice, packets have to be shorter, hosts
// stand still. At some time all is good again, and a test sees how long it takes until what has waited has arrived.
package weather

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// A Network has the methods of [emulate.Switch]. It may consist of several.
type Network struct {
	Wire
	random *rand.Rand
	stride int
	ways   map[[2]int][]spell // by from and to
	sleeps [2][]sleep         // by host, in all networks
	delay  time.Duration      // one way, when all is good
	calm   time.Duration      // from then on all is
	last   time.Duration      // when the last packet arrived, or will, that was sent before that
}

// A Wire is the packets of a network, or of all.
type Wire struct {
	n      *Network
	first  int                // host
	events []emulate.Delivery // by time
}

// A spell is how a way is until the next one.
type spell struct {
	from        time.Duration
	delay       time.Duration
	jitter      time.Duration
	loss, twice float64
	most        int // bytes of a packet
}

// A sleep is when a host does nothing. What arrives waits.
type sleep struct{ from, to time.Duration }

// A Menu is what can happen.
type Menu struct {
	// Networks is how many there are, each with two hosts; 0: one. Each has spells of its own. The hosts of network n are number
	// n × Stride and the next one.
	Networks, Stride int
	// Spells is how many there are at most, and Span is how long one lasts at most.
	Spells int
	Span   time.Duration
	// Delay is the longest way.
	Delay time.Duration
	// Short and Long are lengths of packets that get through in any case, and at best; 0: all do.
	Short, Long int
	// Sleeps is how many times a host stands still, at most.
	Sleeps int
}

// New makes networks.
func New(seed uint64, m Menu) *Network {
	r := rand.New(rand.NewPCG(seed, 0x5EA))
	n := &Network{random: r, ways: make(map[[2]int][]spell), stride: max(m.Stride, 2)}
	n.n = n
	for i := range max(m.Networks, 1) {
		n.network(i*n.stride, &m)
	}
	for host := range n.sleeps {
		for range r.IntN(m.Sleeps + 1) {
			from := time.Duration(r.Int64N(int64(n.calm)))
			to := from + some(r, m.Span)
			n.sleeps[host] = append(n.sleeps[host], sleep{from, to})
			n.calm = max(n.calm, to)
		}
	}
	n.delay, n.last = some(r, m.Delay/10), n.calm
	for way, spells := range n.ways {
		good := spell{from: n.calm, delay: n.delay, most: spells[0].most}
		n.ways[way] = append(spells, good)
	}
	return n
}

// network adds one.
func (n *Network) network(first int, m *Menu) {
	r := n.random
	at, delay := time.Duration(0), some(r, m.Delay)
	for range 1 + r.IntN(m.Spells) {
		kind := r.IntN(4)
		if r.IntN(2) == 0 {
			delay = some(r, m.Delay)
		}
		most := m.most(r)
		for k := range 2 {
			s := spell{from: at, delay: delay, most: most}
			s.change(r, kind, m.Delay)
			way := [2]int{first + k, first + 1 - k}
			n.ways[way] = append(n.ways[way], s)
		}
		at += some(r, m.Span)
	}
	n.calm = max(n.calm, at)
}

// most is how long packets may be for now.
func (m *Menu) most(r *rand.Rand) int {
	if m.Long == 0 || r.IntN(3) > 0 {
		return m.Long
	}
	return m.Short + r.IntN(m.Long-m.Short+1)
}

// change makes a spell one of a kind.
func (s *spell) change(r *rand.Rand, kind int, delay time.Duration) {
	switch kind {
	case 0: // good
	case 1: // dark, in one direction at least now and then
		s.loss = float64(r.IntN(2))
	case 2:
		s.loss = (0.3 + 0.3*r.Float64()) * float64(r.IntN(2))
		s.twice = float64(r.IntN(3)) / 2
	default:
		s.delay = some(r, delay)
		s.jitter = time.Duration(r.Int64N(int64(s.delay)) * int64(r.IntN(2)))
		s.twice = float64(r.IntN(3)) / 2
	}
}

// some is a time up to the most, each order of magnitude of six as likely.
func some(r *rand.Rand, most time.Duration) time.Duration {
	d := most
	for range r.IntN(6) {
		d /= 10
	}
	return max(d/10+time.Duration(r.Int64N(int64(max(d, 1)))), 10*time.Microsecond)
}

// Calm is from when on all is good.
func (n *Network) Calm() time.Duration { return n.calm }

// Last is when the last packet has arrived that was sent before all was good.
func (n *Network) Last() time.Duration { return n.last }

// RoundTrip is how long one takes when all is good.
func (n *Network) RoundTrip() time.Duration { return 2 * n.delay }

// Awake is when a host goes on that would do something at a time.
func (n *Network) Awake(host int, at time.Duration) time.Duration {
	for again := true; again; {
		again = false
		for _, s := range n.sleeps[host%n.stride] {
			if at >= s.from && at < s.to {
				at, again = s.to, true
			}
		}
	}
	return at
}

// Alone is one of the networks alone. Its hosts have the numbers 0 and 1.
func (n *Network) Alone(i int) *Wire { return &Wire{n: n, first: i * n.stride} }

// Send takes a packet.
func (w *Wire) Send(at time.Duration, from, to int, frame emulate.Frame, size int) (copies, flip int) {
	n := w.n
	way := n.ways[[2]int{w.first + from, w.first + to}]
	i := len(way) - 1
	for way[i].from > at {
		i--
	}
	s := way[i]
	copies = 1
	if n.random.Float64() < s.twice {
		copies = 2
	}
	for range copies {
		if n.random.Float64() < s.loss || s.most > 0 && size > s.most {
			continue
		}
		due := at + s.delay
		if s.jitter > 0 {
			due += time.Duration(n.random.Int64N(int64(s.jitter)))
		}
		due = n.Awake(to, due)
		if at < n.calm {
			n.last = max(n.last, due)
		}
		k, _ := slices.BinarySearchFunc(w.events, due, func(e emulate.Delivery, due time.Duration) int {
			if e.Due <= due {
				return -1
			}
			return 1
		})
		w.events = slices.Insert(w.events, k, emulate.Delivery{Frame: frame, To: to, Due: due})
	}
	return copies, -1
}

// Next is when something arrives.
func (w *Wire) Next() (at time.Duration, ok bool) {
	if len(w.events) == 0 {
		return 0, false
	}
	return w.events[0].Due, true
}

// Due appends what has arrived to out, until it is full.
func (w *Wire) Due(now time.Duration, out []emulate.Delivery) []emulate.Delivery {
	k := 0
	for k < len(w.events) && w.events[k].Due <= now && len(out) < cap(out) {
		out = append(out, w.events[k])
		k++
	}
	w.events = slices.Delete(w.events, 0, k)
	return out
}
