package is

import (
	"github.com/strandmp/strand/examples/nas/npb"
)

const seed npb.Seed = 314159265

// A problem is 2^keysLog keys below 2^maxLog, and the published ranks of five of them.
type problem struct {
	keysLog, maxLog, bucketsLog int
	tests                       [5]test
}

// A test is a key by its place, and its rank: in iteration i rank + sign × (i − late). The keys that
// iterations change move it.
type test struct{ place, rank, sign, late int }

var problems = map[npb.Class]problem{
	npb.S: {16, 11, 9, [5]test{{48427, 0, 1, 0}, {17148, 18, 1, 0}, {23627, 346, 1, 0}, {62548, 64917, -1, 0}, {4431, 65463, -1, 0}}},
	npb.W: {20, 16, 10, [5]test{{357773, 1249, 1, 2}, {934767, 11698, 1, 2}, {875723, 1039987, -1, 0}, {898999, 1043896, -1, 0}, {404505, 1048018, -1, 0}}},
	npb.A: {23, 19, 10, [5]test{{2112377, 104, 1, 1}, {662041, 17523, 1, 1}, {5336171, 123928, 1, 1}, {3642833, 8288932, -1, 1}, {4250760, 8388264, -1, 1}}},
	npb.B: {25, 21, 10, [5]test{{41869, 33422937, -1, 0}, {812306, 10244, 1, 0}, {5102857, 59149, 1, 0}, {18232239, 33135281, -1, 0}, {26860214, 99, 1, 0}}},
}

// mostBuckets is what a problem has at most.
const mostBuckets = 1 << 10

func (p problem) keys() int    { return 1 << p.keysLog }
func (p problem) buckets() int { return 1 << p.bucketsLog }
func (p problem) shift() int   { return p.maxLog - p.bucketsLog }

// generate returns the keys of a rank. Each is the mean of four uniform numbers, so that there are many in
// the middle.
func (p problem) generate(rank, ranks int) []int32 {
	keys := make([]int32, p.keys()/ranks)
	s := seed
	s.Skip(4 * uint64(rank) * uint64(len(keys)))
	quarter := float64(int(1) << (p.maxLog - 2))
	for i := range keys {
		sum := s.Next(npb.Multiplier)
		for range 3 {
			sum += s.Next(npb.Multiplier)
		}
		keys[i] = int32(quarter * sum)
	}
	return keys
}
