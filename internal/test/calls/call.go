package calls

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/coll"
)

// A Call is one that all processes of a communicator make.
type Call struct {
	Name   string       // as in Names
	Alone  bool         // it goes on by itself
	Inside bool         // it works in place, if the call can
	Of     int          // the type of the values
	By     int          // the operation, among those of the type
	Root   int          // modulo the number of processes
	Length int          // values that a process gives to each that gets something of it
	Seed   uint64       // of the values
	grid   *strand.Cart // of calls over neighbours
}

// Names are those of all calls.
var Names = []string{"Barrier", "Bcast", "Reduce", "Allreduce", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv",
	"Alltoall", "Alltoallv", "Scan", "Exscan", "ReduceScatter", "ReduceScatterBlock",
	"BcastView", "GatherView", "ScatterView", "AllgatherView", "AlltoallView"}

// Draw draws a call whose processes give so many bytes at most.
func Draw(r *rand.Rand, most int) Call {
	c := Call{Name: Names[r.IntN(len(Names))], Alone: r.IntN(2) == 0, Inside: r.IntN(3) == 0, Of: r.IntN(len(kinds)), By: r.Int(), Root: r.Int(), Seed: r.Uint64()}
	c.Length = []int{0, 1, r.IntN(20), r.IntN(1000), r.IntN(1 << 22)}[r.IntN(5)]
	c.Length = min(c.Length, most/kinds[c.Of].size())
	return c
}

// Settings draws parameters: by which algorithms calls are made, and whether what ranks call is compared.
func Settings(r *rand.Rand) (set [][2]string) {
	for _, call := range slices.Sorted(algorithms) {
		if names := coll.Algorithms[call]; r.IntN(3) > 0 {
			set = append(set, [2]string{"coll_" + call, names[r.IntN(len(names))]})
		}
	}
	if size := []string{"", "0", "4K", "20K"}[r.IntN(4)]; size != "" {
		set = append(set, [2]string{"coll_shared_size", size})
	}
	if r.IntN(8) == 0 {
		set = append(set, [2]string{"coll_check", "true"})
	}
	if from := []string{"", "1", "2", "10", "32"}[r.IntN(5)]; from != "" {
		set = append(set, [2]string{"coll_shared_from", from})
	}
	return set
}

func algorithms(yield func(string) bool) {
	for call := range coll.Algorithms {
		if !yield(call) {
			return
		}
	}
}

// String names the call, with what it is about.
func (c Call) String() string {
	name, k := c.Name, kinds[c.Of]
	if c.Alone {
		name = "I" + name
	}
	return fmt.Sprintf("%s of %d %s, %s, root %d, in place: %v, seed %#x", name, c.Length, k.name(), k.operation(c.By), c.Root, c.Inside, c.Seed)
}

// Make makes a blocking call, and compares.
func (c Call) Make(ctx context.Context, comm *strand.Comm) error {
	c.Alone = false
	_, check, err := kinds[c.Of].begin(ctx, comm, c)
	if err != nil {
		return err
	}
	return check()
}

// Begin makes a call that goes on by itself. What it gives is compared by check, once the request is complete.
func (c Call) Begin(comm *strand.Comm) (r strand.Request, check func() error, err error) {
	c.Alone = true
	return kinds[c.Of].begin(context.Background(), comm, c) // which ends no call that goes on by itself
}
