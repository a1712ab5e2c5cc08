package bench

// A Workload is the shape of the traffic.
type Workload string

// The workloads.
const (
	// PingPong: one message goes and one of the same size comes back.
	PingPong Workload = "pingpong"
	// Exchange: both send a message and receive one, at the same time.
	Exchange Workload = "exchange"
	// Stream: a window of messages goes, a short answer comes back; in bytes a
	// second.
	Stream Workload = "stream"
	// Rate: the same in messages a second.
	Rate Workload = "rate"
	// Burst: both compute, meet, and then exchange a window; in bytes a second from the meeting on.
	Burst Workload = "burst"
	// Pairs: streams between several pairs of ranks at once; in messages and bytes a second, of
	// all pairs together.
	Pairs Workload = "pairs"
	// Coll: a collective call of all ranks, again and again.
	Coll Workload = "coll"
)

// valid reports whether the workload is one that there is.
func (w Workload) valid() bool {
	return w.single() || w == Stream || w == Rate || w == Burst || w == Pairs || w == Coll
}

// single reports whether one message at a time goes each way.
func (w Workload) single() bool { return w == PingPong || w == Exchange }

// DefaultSizes are the message sizes in bytes that are measured unless the user
// names others: alone, and in a comparison.
func (w Workload) DefaultSizes(comparison bool) []int {
	switch {
	case w == Coll:
		return []int{8, 1 << 10, 16 << 10, 128 << 10, 1 << 20}
	case w == Rate:
		return []int{8}
	case w == Pairs:
		return []int{8, 64 << 10}
	case w == Burst:
		return []int{4 << 10, 16 << 10, 64 << 10, 128 << 10, 256 << 10, 1 << 20}
	case comparison:
		return []int{8, 64 << 10, 1 << 20}
	}
	return powersOfTwo(1, 4<<20)
}
