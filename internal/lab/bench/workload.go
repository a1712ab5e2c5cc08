package bench

import (
	"fmt"
	"strings"
	"time"
)

// A Workload is the shape of the traffic.
type Workload string

// The workloads.
const (
	// PingPong: one message goes and one of the same size comes back.
	PingPong Workload = "pingpong"
	// Stream: a window of messages goes, a short answer comes back; in bytes a
	// second.
	Stream Workload = "stream"
	// Rate: the same in messages a second.
	Rate Workload = "rate"
	// Burst: both compute, meet, and then exchange a window; in bytes a second from the meeting on.
	Burst Workload = "burst"
)

// valid reports whether the workload is one that there is.
func (w Workload) valid() bool { return w == PingPong || w == Stream || w == Rate || w == Burst }

// DefaultSizes are the message sizes in bytes that are measured unless the user
// names others: alone, and in a comparison.
func (w Workload) DefaultSizes(comparison bool) []int {
	switch {
	case w == Rate:
		return []int{8}
	case w == Burst:
		return []int{4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20}
	case comparison:
		return []int{8, 64 << 10, 1 << 20}
	}
	return powersOfTwo(1, 4<<20)
}

// An order is one measurement, told to both processes of a pair.
type order struct {
	workload Workload
	size     int // bytes of a message
	iters    int // round trips, or windows
	warmup   int // the same, before the clock starts
	window   int // messages; 1 for a ping-pong
	pause    int // microseconds of computing before each window of a burst
}

// String is the order as it goes to a process of a pair.
func (o order) String() string {
	return fmt.Sprintf("%s %d %d %d %d %d", o.workload, o.size, o.iters, o.warmup, o.window, o.pause)
}

// MaxWindow bounds the requests that are under way at once.
const MaxWindow = 1 << 16

// MaxPause bounds the computing between two bursts.
const MaxPause = 10 * time.Second

const maxPause = int(MaxPause / time.Microsecond)

// parseOrder reads what String wrote.
func parseOrder(line string) (order, error) {
	var o order
	n, err := fmt.Sscanf(strings.TrimSpace(line), "%s %d %d %d %d %d", &o.workload, &o.size, &o.iters, &o.warmup, &o.window, &o.pause)
	if err != nil {
		return order{}, fmt.Errorf("order %.80q: field %d: %w", line, n+1, err)
	}
	if !o.workload.valid() || o.size < 0 || o.size > maxSize || o.iters < 1 || o.warmup < 0 || o.window < 1 || o.window > MaxWindow || o.pause < 0 || o.pause > maxPause {
		return order{}, fmt.Errorf("order %.80q: a field is out of bounds", line)
	}
	return o, nil
}

// perMessage is what one message took, in microseconds, given the time of all:
// half a round trip, or a window's share.
func (o order) perMessage(total time.Duration) float64 {
	messages := float64(o.iters) * float64(o.window)
	if o.workload == PingPong {
		messages = 2 * float64(o.iters)
	}
	return float64(total.Nanoseconds()) / 1000 / messages
}
