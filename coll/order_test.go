package coll

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
)

// rounded adds numbers of floating point, in the order of ranks.
var rounded = Op{Size: 8, Fold: func(acc, in []byte, before bool) {
	for i := 0; i < len(acc); i += 8 {
		a, b := math.Float64frombits(binary.LittleEndian.Uint64(acc[i:])), math.Float64frombits(binary.LittleEndian.Uint64(in[i:]))
		if before {
			a, b = b, a
		}
		binary.LittleEndian.PutUint64(acc[i:], math.Float64bits(a+b))
	}
}}

// uneven are numbers whose sum depends on which are added first.
func uneven(rank, length int) []byte {
	r, b := rand.New(rand.NewPCG(uint64(rank), 7)), []byte(nil)
	for range length / 8 {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(math.Ldexp(r.Float64()-0.5, r.IntN(60))))
	}
	return b
}

// What is not commutative is combined in the same pairs whichever way a call goes: by messages, or by memory, which there may be in one run and not in
// another one, and is not before some calls were made; in a crowd or not. So a sum is rounded in the same way.
func TestRoundingDoesNotDependOnTheWay(t *testing.T) {
	for call, do := range map[string]func(ctx context.Context, c Comm, ch *Choice, in, out []byte) error{
		"allreduce": func(ctx context.Context, c Comm, ch *Choice, in, out []byte) error {
			return Allreduce(ctx, c, ch, rounded, in, out)
		},
		"reduce": func(ctx context.Context, c Comm, ch *Choice, in, out []byte) error {
			return Reduce(ctx, c, ch, rounded, in, out, c.Size()/2)
		},
		"reducescatter": func(ctx context.Context, c Comm, ch *Choice, in, out []byte) error {
			each := len(in) / 8 / c.Size() * 8
			return ReduceScatter(ctx, c, ch, rounded, in[:each*c.Size()], out[:each], func(int) int { return each })
		},
		"scan": func(ctx context.Context, c Comm, _ *Choice, in, out []byte) error {
			return Scan(ctx, c, rounded, in, out)
		},
		"exscan": func(ctx context.Context, c Comm, _ *Choice, in, out []byte) error {
			return Exscan(ctx, c, rounded, in, out)
		},
	} {
		for n := 1; n <= 13; n++ {
			for _, length := range []int{160, 3200} {
				got := func(p *Places, ch *Choice) [][]byte {
					all := make([][]byte, n)
					togetherOn(t, n, p, func(c Comm) error {
						all[c.Rank()] = make([]byte, length)
						return do(t.Context(), c, ch, uneven(c.Rank(), length), all[c.Rank()])
					})
					return all
				}
				const oneHost, apart = 0, 5
				want := got(placed(apart, n, false), &Choice{})
				for way, all := range map[string][][]byte{
					"by messages in a crowd": got(placed(apart, n, true), &Choice{}),
					"shown":                  got(placed(oneHost, n, false), &Choice{Allreduce: "shared", Reduce: "shared", ReduceScatter: "shared"}),
					"shown in a crowd":       got(placed(oneHost, n, true), &Choice{}),
					"lent":                   got(placed(oneHost, n, false), &Choice{Allreduce: "lent", Reduce: "lent", ReduceScatter: "lent"}),
				} {
					assert.Equal(t, want, all, fmt.Sprintf("%s of %d ranks, %d bytes, %s", call, n, length, way))
				}
			}
		}
	}
}
