// Package is is the kernel IS of the NAS parallel benchmarks, "integer sort": keys are sorted into
// buckets, the buckets dealt out so that each rank has as many keys as the others, and the keys of each
// rank counted. A small Allreduce and a large Alltoallv an iteration.
package is

import (
	"context"
	"fmt"
	"slices"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

// Kernel is IS.
var Kernel = npb.Kernel{Name: "IS", Title: "integer sort: all to all", Permits: permits, Run: run}

const iterations = 10

func permits(class npb.Class, ranks int) error {
	if err := npb.PowerOfTwo(ranks); err != nil {
		return err
	}
	most := 1024
	if class == npb.S {
		most = 128
	}
	if ranks > most {
		return fmt.Errorf("%d ranks: want at most %d for class %v", ranks, most, class)
	}
	return nil
}

func run(ctx context.Context, c *strand.Comm, class npb.Class) (*npb.Result, error) {
	s := newSorter(c, problems[class])
	if err := s.rank(ctx, 1); err != nil { // all memory is touched, and all connections are made, before it counts
		return nil, err
	}
	s.held = 0
	start, err := npb.Start(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := 1; i <= iterations; i++ {
		if err := s.rank(ctx, i); err != nil {
			return nil, fmt.Errorf("iteration %d: %w", i, err)
		}
	}
	seconds, err := npb.Seconds(ctx, c, start)
	if err != nil {
		return nil, err
	}
	misplaced, err := s.misplaced(ctx)
	if err != nil {
		return nil, err
	}
	sum := []int64{int64(s.held), int64(misplaced)}
	if err := strand.Allreduce(ctx, c, strand.Sum[int64](), sum, sum); err != nil || c.Rank() != 0 {
		return nil, err
	}
	return &npb.Result{
		Kernel: "IS", Class: class, Size: fmt.Sprint(s.keys()), Iterations: iterations, Ranks: c.Size(), Seconds: seconds,
		Mops: float64(iterations*s.keys()) / seconds / 1e6, Operation: "keys ranked",
		Checks: []npb.Check{
			npb.Exactly("the number of tested keys with the right rank", int(sum[0]), iterations*len(s.tests)),
			npb.Exactly("the number of keys in order", s.keys()-int(sum[1]), s.keys()),
		},
	}, nil
}

// A sorter is a rank's part in ranking keys.
type sorter struct {
	problem
	comm *strand.Comm
	own  []int32 // keys as they were made

	sizes, totals []int32 // of buckets, on this rank and together; behind them the keys that are tested
	ordered       []int32 // own keys by bucket
	send, receive []int64 // how many keys for each rank, and from each
	first         []int   // bucket of each rank; and the one behind the last
	out, in       [][]byte

	mine   []int32 // the keys that this rank got, in any order
	lowest int32   // key that it may get
	upTo   []int32 // how many of them are no greater than lowest + i
	held   int     // tests
}

func newSorter(c *strand.Comm, p problem) *sorter {
	n, own := c.Size(), p.generate(c.Rank(), c.Size())
	return &sorter{
		problem: p, comm: c, own: own,
		sizes: make([]int32, p.buckets()+len(p.tests)), totals: make([]int32, p.buckets()+len(p.tests)),
		ordered: make([]int32, len(own)),
		send:    make([]int64, n), receive: make([]int64, n), first: make([]int, n+1),
		out: make([][]byte, n), in: make([][]byte, n),
	}
}

// rank does an iteration.
func (s *sorter) rank(ctx context.Context, iteration int) error {
	if s.comm.Rank() == 0 {
		s.own[iteration] = int32(iteration)
		s.own[iteration+iterations] = int32(1<<s.maxLog - iteration)
	}
	s.fillBuckets()
	if err := strand.Allreduce(ctx, s.comm, strand.Sum[int32](), s.sizes, s.totals); err != nil {
		return err
	}
	s.deal()
	if err := s.exchange(ctx); err != nil {
		return err
	}
	s.count()
	s.test(iteration)
	return nil
}

// fillBuckets sorts the own keys into buckets, and finds the tested ones.
func (s *sorter) fillBuckets() {
	clear(s.sizes)
	for i, t := range s.tests {
		if t.place/len(s.own) == s.comm.Rank() {
			s.sizes[s.buckets()+i] = s.own[t.place%len(s.own)]
		}
	}
	// Arrays of a known size, and a shift of less than 32: the compiler leaves out its checks.
	const mask = mostBuckets - 1
	var next [mostBuckets]int32 // where a bucket's next key goes
	shift, ordered := uint(s.shift())&31, s.ordered
	for _, key := range s.own {
		next[key>>shift&mask]++
	}
	var sum int32
	for i := range s.buckets() {
		s.sizes[i] = next[i]
		sum, next[i] = sum+next[i], sum
	}
	for _, key := range s.own {
		at := &next[key>>shift&mask]
		ordered[*at] = key
		*at++
	}
}

// deal gives each rank buckets until it and those before it have their share of all keys. The last ranks may get none.
func (s *sorter) deal() {
	clear(s.send)
	all, mine, rank := 0, int64(0), 0
	for bucket := range s.buckets() {
		all += int(s.totals[bucket])
		mine += int64(s.sizes[bucket])
		if all >= (rank+1)*len(s.own) {
			s.send[rank] = mine
			rank++
			s.first[rank] = bucket + 1
			mine = 0
		}
	}
	for ; rank < s.comm.Size(); rank++ {
		s.first[rank+1] = s.first[rank]
	}
}

// exchange sends all keys to the ranks that have their buckets.
func (s *sorter) exchange(ctx context.Context) error {
	if err := strand.Alltoall(ctx, s.comm, s.send, s.receive); err != nil {
		return err
	}
	total := 0
	for _, n := range s.receive {
		total += int(n)
	}
	s.mine = slices.Grow(s.mine[:0], total)[:total]
	if err := pieces(s.out, s.ordered, s.send); err != nil {
		return err
	}
	if err := pieces(s.in, s.mine, s.receive); err != nil {
		return err
	}
	return s.comm.Alltoallv(ctx, s.out, s.in)
}

// pieces cuts keys into the memory of so many for each rank.
func pieces(out [][]byte, keys []int32, counts []int64) (err error) {
	for i, n := range counts {
		if out[i], err = strand.Bytes(keys[:n]); err != nil {
			return err
		}
		keys = keys[n:]
	}
	return nil
}

// count ranks the keys that have come.
func (s *sorter) count() {
	me := s.comm.Rank()
	s.lowest = int32(s.first[me] << s.shift())
	width := (s.first[me+1] - s.first[me]) << s.shift()
	s.upTo = slices.Grow(s.upTo[:0], width)[:width]
	clear(s.upTo)
	upTo, lowest := s.upTo, s.lowest
	for _, key := range s.mine {
		upTo[key-lowest]++
	}
	var sum int32
	for i, n := range upTo {
		sum += n
		upTo[i] = sum
	}
}

// test compares the ranks of the tested keys that are here with the published ones.
func (s *sorter) test(iteration int) {
	lesser := 0 // keys of the ranks before
	for _, n := range s.totals[:s.first[s.comm.Rank()]] {
		lesser += int(n)
	}
	for i, t := range s.tests {
		at := int(s.totals[s.buckets()+i] - s.lowest)
		if at < 0 || at >= len(s.upTo) {
			continue
		}
		rank := lesser
		if at > 0 {
			rank += int(s.upTo[at-1])
		}
		if rank == t.rank+t.sign*(iteration-t.late) {
			s.held++
		}
	}
}

// misplaced sorts the keys by their ranks and counts those that are less than the one before, that of
// the rank before too. Ranks without keys pass on what they hear.
func (s *sorter) misplaced(ctx context.Context) (n int, err error) {
	sorted := make([]int32, len(s.mine))
	for _, key := range s.mine {
		s.upTo[key-s.lowest]--
		sorted[s.upTo[key-s.lowest]] = key
	}
	me, last := s.comm.Rank(), []int32{-1}
	if me > 0 {
		if _, _, err := strand.Recv(ctx, s.comm, last, me-1, 0); err != nil {
			return 0, err
		}
	}
	for _, key := range sorted {
		if key < last[0] {
			n++
		}
		last[0] = key
	}
	if me+1 < s.comm.Size() {
		err = strand.Send(ctx, s.comm, last, me+1, 0)
	}
	return n, err
}
