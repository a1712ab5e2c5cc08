package bench

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"
)

// A Cell is one thing to measure: a row of a table.
type Cell struct {
	Workload Workload      `json:"workload"`
	Call     Call          `json:"call,omitempty"`  // of [Coll]
	Ranks    int           `json:"ranks,omitempty"` // of [Coll]
	Pairs    int           `json:"pairs,omitempty"` // of ranks, all at once; 1 but for [Pairs]
	Window   int           `json:"window"`          // messages; 1 for a ping-pong
	Pause    time.Duration `json:"pause,omitempty"` // of computing before each window of a burst
	Size     int           `json:"size"`            // bytes of a message
}

// Processes is how many ranks take part.
func (c Cell) Processes() int {
	if c.Workload == Coll {
		return c.Ranks
	}
	return 2 * max(1, c.Pairs)
}

// An Order is a measurement of a cell, told to all processes of a job.
type Order struct {
	Cell
	Iters  int // round trips, or windows of each pair
	Warmup int // the same, before the clock starts
}

// noCall stands in an order for that it is of no collective call.
const noCall Call = "-"

// MaxWindow bounds the requests that are under way at once.
const MaxWindow = 1 << 16

// MaxPause bounds the computing between two bursts.
const MaxPause = 10 * time.Second

// MaxPairs bounds the pairs of ranks: more is a slip of the finger.
const MaxPairs = 64

// String is the order as it goes to a process of a job. How many pairs there are a process knows
// by itself.
func (o Order) String() string {
	return fmt.Sprintf("%s %d %d %d %d %d %s", o.Workload, o.Size, o.Iters, o.Warmup, o.Window, o.Pause.Microseconds(), cmp.Or(o.Call, noCall))
}

// describe says for people what is measured.
func (o Order) describe() string {
	if o.Workload == Coll {
		return fmt.Sprintf("%s of %d bytes on %d ranks", o.Call, o.Size, o.Ranks)
	}
	return fmt.Sprintf("%s of %d bytes", o.Workload, o.Size)
}

// parseOrder reads what String wrote.
func parseOrder(line string) (Order, error) {
	var o Order
	var pause int64
	n, err := fmt.Sscanf(strings.TrimSpace(line), "%s %d %d %d %d %d %s", &o.Workload, &o.Size, &o.Iters, &o.Warmup, &o.Window, &pause, &o.Call)
	if err != nil {
		return Order{}, fmt.Errorf("order %.80q: field %d: %w", line, n+1, err)
	}
	if !o.Workload.valid() || o.Size < 0 || o.Size > maxSize || o.Iters < 1 || o.Warmup < 0 || o.Window < 1 || o.Window > MaxWindow || pause < 0 || pause > MaxPause.Microseconds() {
		return Order{}, fmt.Errorf("order %.80q: a field is out of bounds", line)
	}
	if o.Call == noCall {
		o.Call = ""
	}
	if (o.Workload == Coll) != (o.Call.index() >= 0) {
		return Order{}, fmt.Errorf("order %.80q: workload %s of call %q", line, o.Workload, o.Call)
	}
	o.Pause = time.Duration(pause) * time.Microsecond
	return o, nil
}

// messages is how many messages the iterations of an order are, of all pairs together.
func (o Order) messages() float64 {
	n := float64(o.Iters) * float64(o.Window) * float64(max(1, o.Pairs))
	if o.Workload == PingPong {
		n *= 2
	}
	return n
}

// PerMessage is the share of one message in what all took, in microseconds: half a round trip, or
// a window's share.
func (o Order) PerMessage(total time.Duration) float64 {
	return float64(total.Nanoseconds()) / 1000 / o.messages()
}

// Block is an order for a block of a few milliseconds. That is about as long as a process keeps
// its processor when others want it too, so many blocks stay undisturbed on a machine that does
// other things. A block of bursts takes about 100 ms, most of it computing, or longer where two
// bursts do. One of several pairs is longer too, since they have to take turns.
func (c Cell) Block() Order {
	if c.Workload == Coll {
		return c.callBlock()
	}
	if c.Workload == Burst {
		// A program that computes before each burst does not come to it warm.
		return Order{Cell: c, Iters: burstIters(c.Pause, 100*time.Millisecond), Warmup: 1}
	}
	const bytes = 4 << 20
	least := 4
	iteration := int(min(int64(c.Window)*int64(max(c.Size, c.cheapest())), math.MaxInt32))
	if iteration > longIteration {
		least = 1
	}
	o := Order{Cell: c, Iters: max(least, bytes/iteration)}
	o.Warmup = max(o.Iters, min(minWarmup, 2*longIteration/iteration))
	if c.Workload == Pairs {
		o.Warmup = pairsWarmup // with more ranks than processors nobody keeps his processor warm
	}
	return o
}

const (
	// minWarmup is enough for processes that rested while the others had their turn. When they
	// wake up they may share a processor, and the caches hold the others' data.
	minWarmup   = 60
	pairsWarmup = 4
	// longIteration has so many bytes that one is as good as several, and two warm up enough.
	longIteration = 32 << 20
)

// cheapest is how large the message is that costs as much as a small one, in bytes.
func (c Cell) cheapest() int {
	if c.Window > 1 {
		return 1 << 10 // they come together
	}
	return 8 << 10
}

// burstIters is how many bursts fit into the limit, from 2 to 20. A burst is taken to last its
// pause and one more millisecond.
func burstIters(pause, limit time.Duration) int {
	return min(max(2, int(limit/(pause+time.Millisecond))), 20)
}

// Cells are all combinations of pairs, windows and sizes, in this order.
func Cells(w Workload, pairs, windows []int, pause time.Duration, sizes []int) []Cell {
	var all []Cell
	for _, p := range pairs {
		for _, window := range windows {
			for _, size := range sizes {
				all = append(all, Cell{Workload: w, Pairs: p, Window: window, Pause: pause, Size: size})
			}
		}
	}
	return all
}
