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

// Where a host is crowded: more ranks than processors. Measured with 8 ranks on 2 processors, over shared memory and TCP, by
//
//	strand bench coll --ranks 8 --calls allreduce --btl tcp,self -p coll_allreduce=tree
//
// and so on with each algorithm and with --btl sm,self, sizes 8 to 1M. Of allreduce the tree takes over TCP 0.76 to 0.86 of the time of
// doubling, Rabenseifner and ring from 8 KB to 1 MB; over shared memory the same or less, but for 256 KB. Of reducescatter the
// way by rank 0 takes over TCP 0.63 to 0.81 up to 8 KB together, over shared memory the same. Calls of which no algorithm was better over both
// have the borders below.
const (
	crowdedTree   = 8 << 10
	crowdedRooted = 8 << 10 // of what a process gives
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

func (ch *Choice) barrier(t *Teams) string {
	if ch != nil {
		if name, ok := t.given(ch.Barrier); ok {
			return name
		}
	}
	if t.layered() {
		return "hosts"
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
	case length < shortBcast || n < 4:
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
	case length < shortReduce || length/op.Size < n:
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
	case t.crowded() && length >= crowdedTree:
		return "tree"
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

func (ch *Choice) allgather(each, n int) string {
	power := n == below(n)
	switch {
	case ch != nil && ch.Allgather != "" && (ch.Allgather != "doubling" || power):
		return ch.Allgather
	case each*n >= shortAllgather:
		return "ring"
	case power:
		return "doubling"
	}
	return "bruck"
}

func (ch *Choice) alltoall(each, n int) string {
	switch {
	case ch != nil && ch.Alltoall != "":
		return ch.Alltoall
	case each <= shortAlltoall && n >= 8:
		return "bruck"
	case each <= longAlltoall:
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
