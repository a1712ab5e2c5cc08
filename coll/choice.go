package coll

import (
	"fmt"
	"slices"
	"strings"
)

// A Choice says by which algorithm calls are made. What is empty is chosen by length and number of
// processes. All processes have the same.
type Choice struct {
	Bcast, Reduce, Allreduce, Gather, Scatter, Allgather, Alltoall string
}

// Algorithms are the names that each call knows.
var Algorithms = map[string][]string{
	"bcast":     {"binomial", "scatter", "chain"},
	"reduce":    {"binomial", "scatter"},
	"allreduce": {"doubling", "rabenseifner", "ring"},
	"gather":    {"linear", "binomial"},
	"scatter":   {"linear", "binomial"},
	"allgather": {"ring", "doubling", "bruck"},
	"alltoall":  {"spread", "pairwise", "bruck"},
}

// Check reports a name that a call does not know.
func (ch *Choice) Check() error {
	for call, name := range map[string]string{
		"bcast": ch.Bcast, "reduce": ch.Reduce, "allreduce": ch.Allreduce, "gather": ch.Gather,
		"scatter": ch.Scatter, "allgather": ch.Allgather, "alltoall": ch.Alltoall,
	} {
		if name != "" && !slices.Contains(Algorithms[call], name) {
			return fmt.Errorf("coll: %s=%q: want one of %s", call, name, strings.Join(Algorithms[call], ", "))
		}
	}
	return nil
}

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

func (ch *Choice) bcast(length, n int) string {
	switch {
	case ch != nil && ch.Bcast != "":
		return ch.Bcast
	case length < shortBcast || n < 4:
		return "binomial"
	case length < longBcast:
		return "scatter"
	}
	return "chain"
}

func (ch *Choice) reduce(length, n int, op Op) string {
	switch {
	case !op.Commutative:
		return "binomial"
	case ch != nil && ch.Reduce != "":
		return ch.Reduce
	case length < shortReduce || length/op.Size < n:
		return "binomial"
	}
	return "scatter"
}

func (ch *Choice) allreduce(length, n int, op Op) string {
	switch {
	case !op.Commutative:
		return "doubling"
	case ch != nil && ch.Allreduce != "":
		return ch.Allreduce
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

func (ch *Choice) alltoallv(n int) string {
	if ch != nil && ch.Alltoall == "pairwise" || n > 32 {
		return "pairwise"
	}
	return "spread"
}
