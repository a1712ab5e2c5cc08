package coll

import (
	"fmt"
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
	"barrier":       {"dissemination", "tree", "hosts"},
	"bcast":         {"binomial", "scatter", "chain", "hosts"},
	"reduce":        {"binomial", "scatter", "hosts"},
	"allreduce":     {"doubling", "rabenseifner", "ring", "tree", "hosts"},
	"gather":        {"linear", "binomial"},
	"scatter":       {"linear", "binomial"},
	"allgather":     {"ring", "doubling", "bruck"},
	"alltoall":      {"spread", "pairwise", "bruck"},
	"reducescatter": {"pairwise", "rooted"},
}

// Check reports a name that a call does not know.
func (ch *Choice) Check() error {
	for call, name := range map[string]string{
		"barrier": ch.Barrier, "reducescatter": ch.ReduceScatter, "bcast": ch.Bcast, "reduce": ch.Reduce, "allreduce": ch.Allreduce, "gather": ch.Gather,
		"scatter": ch.Scatter, "allgather": ch.Allgather, "alltoall": ch.Alltoall,
	} {
		if name != "" && !slices.Contains(Algorithms[call], name) {
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
// and at 64 KB the same or more. An alltoall to all at once takes with 64 KB for each 0.65 and 0.91 of what pairs do over shared memory, 0.88 and 1.36
// over TCP, and with 128 KB and more as long or longer. An allgather by doubling takes 0.5 to 0.87 of what the ring does over shared memory, 8 B to 1 MB,
// and 0.64 to 1.07 over TCP. An allreduce of 1 and 4 MB by Rabenseifner's takes 0.73 to 0.92 and 0.95 to 0.98 of the tree; of 256 KB as much, more or less.
const (
	crowdedBarrier = 8        // ranks
	crowdedRooted  = 64 << 10 // of what a process gives
	crowdedSpread  = 64 << 10 // of what it gives each
	crowdedTree    = 512 << 10
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

// given returns the name that is given, if it can be had.
func (t *Teams) given(name string) (string, bool) {
	return name, name != "" && (name != "hosts" || t != nil && t.Places.layered())
}

func (t *Teams) crowded() bool { return t != nil && t.Places.Crowded }

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
	case t.crowded() && length <= crowdedTree:
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
	case ch != nil && ch.Gather != "":
		return ch.Gather
	case length < shortGather && n > 4:
		return "binomial"
	}
	return "linear"
}

func (ch *Choice) scatter(length, n int) string {
	switch {
	case ch != nil && ch.Scatter != "":
		return ch.Scatter
	case length < shortGather && n > 4:
		return "binomial"
	}
	return "linear"
}

func (ch *Choice) allgather(each, n int, crowded bool) string {
	power := n == below(n)
	switch {
	case ch != nil && ch.Allgather != "" && (ch.Allgather != "doubling" || power):
		return ch.Allgather
	case power && (crowded || each*n < shortAllgather):
		return "doubling"
	case each*n >= shortAllgather:
		return "ring"
	}
	return "bruck"
}

func (ch *Choice) alltoall(each, n int, crowded bool) string {
	switch {
	case ch != nil && ch.Alltoall != "":
		return ch.Alltoall
	case each <= shortAlltoall && n >= 8:
		return "bruck"
	case each <= longAlltoall, crowded && each <= crowdedSpread:
		return "spread"
	}
	return "pairwise"
}

func (ch *Choice) reduceScatter(length int, crowded bool) string {
	switch {
	case ch != nil && ch.ReduceScatter != "":
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
