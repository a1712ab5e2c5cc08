package coll

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Choice says by which algorithm calls are made. What is empty is chosen by length and number of
// processes. All processes have the same.
type Choice struct {
	Barrier, Bcast, Reduce, Allreduce, Gather, Scatter, Allgather, Alltoall, ReduceScatter string
}

// Algorithms are the names that each call knows.
var Algorithms = map[string][]string{
	"barrier":       {"dissemination", "tree", "hosts", "shared"},
	"bcast":         {"binomial", "scatter", "chain", "hosts", "shared", "lent"},
	"reduce":        {"binomial", "scatter", "hosts", "shared", "lent"},
	"allreduce":     {"doubling", "rabenseifner", "ring", "tree", "hosts", "shared", "lent"},
	"gather":        {"linear", "binomial", "shared", "lent"},
	"scatter":       {"linear", "binomial", "shared", "lent"},
	"allgather":     {"ring", "doubling", "bruck", "shared", "lent"},
	"alltoall":      {"spread", "pairwise", "bruck", "shared", "lent"},
	"reducescatter": {"pairwise", "rooted", "shared", "lent"},
}

// Check reports a name that a call does not know.
func (ch *Choice) Check() error {
	for call := range Algorithms {
		if name := ch.name(call); name != "" && !slices.Contains(Algorithms[call], name) {
			return fmt.Errorf("coll: %s=%q: want one of %s", call, name, strings.Join(Algorithms[call], ", "))
		}
	}
	return nil
}

// Where a host is crowded, with more ranks than processors, each round costs a turn of the processor, and links are not what is
// scarce: few messages are better than messages at the same time. Measured with 4 and 8 ranks on 2 processors, over shared memory and
// TCP, with 8 B, 1, 8, 64 and 512 KB, by
//
//	strand bench coll --ranks 8 --calls allreduce --btl tcp,self -p coll_allreduce=tree
//
// and so on with each algorithm, by processor time. For a barrier the tree takes with 8 ranks over TCP 0.6 to 0.8 of what dissemination does, in four runs of five,
// and over shared memory 0.6 to 1.3; with 4 ranks as much over TCP and more over shared memory. For an allreduce it takes 0.5 to 1.0 of the best of
// doubling, Rabenseifner's and the ring, in 17 of 20 cells, and up to 1.3. Bcast and reduce by a binomial tree take 0.05 to 0.8 of what scatter does, but
// for a reduce of 512 KB over shared memory (1.0 and 1.2). Reducescatter by way of rank 0 takes 0.2 to 0.8 of pairwise up to 8 KB for each rank,
// and at 64 KB the same or more. An alltoall by Bruck's takes over TCP 0.3 to 0.75 of what one to all at once does with 1 KB for each, 0.4 to 0.95 with 4 KB, 0.7 and
// 0.95 with 8 KB and 8 and 16 ranks, and more with 16 KB; over shared memory more from 1 KB on. One to all at once takes with 64 KB for each 0.65 and 0.91 of what pairs do over shared memory, 0.88 and 1.36
// over TCP, and with 128 KB and more as long or longer. An allgather by doubling takes 0.5 to 0.87 of what the ring does over shared memory, 8 B to 1 MB,
// and 0.64 to 1.07 over TCP. An allreduce of 1 and 4 MB by Rabenseifner's takes over shared memory 0.73 to 0.92 and 0.95 to 0.98 of the tree, over TCP 1.02 to 1.08 and 0.84; of
// 256 KB as much, more or less.
const (
	crowdedBarrier = 8        // ranks
	crowdedRooted  = 64 << 10 // of what a process gives
	crowdedSpread  = 64 << 10 // of what it gives each
	crowdedTree    = 512 << 10
)

// limits are how calls go by memory that all have in common: where ranks outnumber the processors, and elsewhere.
type limits struct{ crowded, ample border }

// A border says up to how many bytes are shown, and whether longer ones are lent. If not, they go by messages.
type border struct {
	shown int
	lends bool
}

// Measured with 4, 8 and 16 ranks on 2 processors, and with 2, with 8 B to 4 MB, by
//
//	strand bench coll --ranks 8 --calls alltoall --btl sm,self -p coll_alltoall=shared
//
// with lent, and with -p coll_shared_size=0. In a crowd to show takes 0.2 to 0.4 of the time that messages take in a barrier, 0.2 to 0.9 in a bcast, 0.3 to
// 0.9 in an allreduce, 0.15 to 0.5 in an allgather, 0.3 to 0.5 in a reduce, 0.4 to 1.0 in a gather, 0.3 to 1.0 in an alltoall of up to 64 KB for each. To lend takes beyond that
// 0.5 to 0.8 of messages in an alltoall and a reducescatter, and 0.4 to 1.0 in a scatter. With two ranks on two processors to show takes 0.3 to 0.9 of messages, up to the borders,
// and 0.4 to 1.0 of lending beyond 64 KB in a reduce, an allreduce, an allgather and a reducescatter, 0.25 to 1.3 in a gather; but 1.2 to 1.5 from 128 KB on in an
// alltoall. In a scatter messages take 0.55 to 0.85 of lending from 256 KB on.
var (
	sharedBarrier       = limits{border{0, false}, border{0, false}}
	sharedBcast         = limits{border{math.MaxInt, false}, border{math.MaxInt, false}}
	sharedReduce        = limits{border{math.MaxInt, false}, border{math.MaxInt, false}}
	sharedAllreduce     = limits{border{4 << 20, true}, border{math.MaxInt, false}}
	sharedGather        = limits{border{math.MaxInt, false}, border{math.MaxInt, false}}
	sharedScatter       = limits{border{8 << 10, true}, border{64 << 10, false}}
	sharedAllgather     = limits{border{math.MaxInt, false}, border{math.MaxInt, false}}
	sharedAlltoall      = limits{border{64 << 10, true}, border{64 << 10, true}}
	sharedReduceScatter = limits{border{64 << 10, true}, border{math.MaxInt, false}}
	sharedScan          = limits{border{64 << 10, false}, border{16 << 10, false}}
)

// The borders are those of Thakur, Rabenseifner and Gropp, and MPICH's.
const (
	shortBcast     = 12 << 10
	longBcast      = 512 << 10
	shortReduce    = 2 << 10
	shortAllreduce = 2 << 10
	longAllreduce  = 256 << 10
	shortGather    = 2 << 10
	shortAllgather = 80 << 10 // of all together
	shortAlltoall  = 256
	longAlltoall   = 32 << 10
)

// name is the one that is given for a call.
func (ch *Choice) name(call string) string {
	if ch == nil {
		return ""
	}
	switch call {
	case "barrier":
		return ch.Barrier
	case "bcast":
		return ch.Bcast
	case "reduce":
		return ch.Reduce
	case "allreduce":
		return ch.Allreduce
	case "gather":
		return ch.Gather
	case "scatter":
		return ch.Scatter
	case "allgather":
		return ch.Allgather
	case "alltoall":
		return ch.Alltoall
	case "reducescatter":
		return ch.ReduceScatter
	}
	return ""
}

// named reports whether an algorithm is given that goes by messages.
func named(name string) bool { return name != "" && name != "shared" && name != "lent" }

// given returns the name that is given, if it can be had.
func (t *Teams) given(name string) (string, bool) {
	return name, named(name) && (name != "hosts" || t != nil && t.Places.layered())
}

func (t *Teams) crowded() bool { return t != nil && t.Places.Crowded }

// shortAlltoall is up to how many bytes for each of n processes an alltoall goes by few messages where each costs a system call, and the
// processors are what is scarce.
func (t *Teams) shortAlltoall(n int) int {
	switch {
	case !t.crowded() || t.Places.ByMemory || n < 4:
		return -1
	case n < 8:
		return 1 << 10
	}
	return 8 << 10
}

func (t *Teams) layered() bool { return t != nil && t.Places.layered() }

func (ch *Choice) barrier(n int, t *Teams) string {
	if ch != nil {
		if name, ok := t.given(ch.Barrier); ok {
			return name
		}
	}
	switch {
	case t.layered():
		return "hosts"
	case t.crowded() && n >= crowdedBarrier:
		return "tree"
	}
	return "dissemination"
}

func (ch *Choice) bcast(length, n int, t *Teams) string {
	if ch != nil {
		if name, ok := t.given(ch.Bcast); ok {
			return name
		}
	}
	switch {
	case t.layered():
		return "hosts"
	case t.crowded() || length < shortBcast || n < 4:
		return "binomial"
	case length < longBcast:
		return "scatter"
	}
	return "chain"
}

func (ch *Choice) reduce(length, n int, op Op, t *Teams) string {
	if !op.Commutative {
		return "binomial"
	}
	if ch != nil {
		if name, ok := t.given(ch.Reduce); ok {
			return name
		}
	}
	switch {
	case t.layered():
		return "hosts"
	case t.crowded() || length < shortReduce || length/op.Size < n:
		return "binomial"
	}
	return "scatter"
}

func (ch *Choice) allreduce(length, n int, op Op, t *Teams) string {
	name, ok := "", false
	if ch != nil {
		name, ok = t.given(ch.Allreduce)
	}
	switch {
	case ok && name == "tree":
		return name
	case !op.Commutative:
		return "doubling"
	case ok:
		return name
	case t.layered():
		return "hosts"
	case t.crowded() && (length <= crowdedTree || length <= 2*crowdedTree && !t.Places.ByMemory):
		return "tree"
	case t.crowded():
		return "rabenseifner"
	case length < shortAllreduce || length/op.Size < n:
		return "doubling"
	case length < longAllreduce:
		return "rabenseifner"
	}
	return "ring"
}

func (ch *Choice) gather(length, n int) string {
	switch {
	case ch != nil && named(ch.Gather):
		return ch.Gather
	case length < shortGather && n > 4:
		return "binomial"
	}
	return "linear"
}

func (ch *Choice) scatter(length, n int) string {
	switch {
	case ch != nil && named(ch.Scatter):
		return ch.Scatter
	case length < shortGather && n > 4:
		return "binomial"
	}
	return "linear"
}

func (ch *Choice) allgather(each, n int, crowded bool) string {
	power := n == below(n)
	switch {
	case ch != nil && named(ch.Allgather) && (ch.Allgather != "doubling" || power):
		return ch.Allgather
	case power && (crowded || each*n < shortAllgather):
		return "doubling"
	case each*n >= shortAllgather:
		return "ring"
	}
	return "bruck"
}

func (ch *Choice) alltoall(each, n int, t *Teams) string {
	switch {
	case ch != nil && named(ch.Alltoall):
		return ch.Alltoall
	case each <= shortAlltoall && n >= 8, each <= t.shortAlltoall(n):
		return "bruck"
	case each <= longAlltoall, t.crowded() && each <= crowdedSpread:
		return "spread"
	}
	return "pairwise"
}

func (ch *Choice) reduceScatter(length int, crowded bool) string {
	switch {
	case ch != nil && named(ch.ReduceScatter):
		return ch.ReduceScatter
	case crowded && length <= crowdedRooted:
		return "rooted"
	}
	return "pairwise"
}

func (ch *Choice) alltoallv(n int) string {
	if ch != nil && ch.Alltoall == "pairwise" || n > 32 {
		return "pairwise"
	}
	return "spread"
}

// scanSegment is how much goes up a chain at a time if a scan does so, and 0 if not. A chain takes the time of as many segments as there are, and of as many more as there
// are ranks, where doubling has each rank send all several times. In a crowd that is work for processors that others want, and each segment
// a turn of theirs. What is not commutative is combined in the same pairs whatever its length.
//
// Measured with 2, 3 and 5 ranks on 2 processors, over shared memory. A chain takes with 5 ranks and 700 KB 0.25 of the time of doubling, in segments of 64 KB 0.4 to 0.6; with 100 KB
// 0.5, in either; with 3 ranks 0.4 to 0.5, in either.
func scanSegment(op Op, length, n int, crowded bool) int {
	least, each := n, segment
	if crowded {
		least, each = (n+7)/8, 4*segment
	}
	if !op.Commutative || length < least*segment {
		return 0
	}
	return max(each/op.Size, 1) * op.Size
}
