package mg

import (
	"context"
	"slices"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/examples/nas/npb"
)

const seed npb.Seed = 314159265

// charges is how many there are of each sign.
const charges = 10

// A charge is a place in a rank's memory, and the random number there.
type charge struct {
	value float64
	place int
}

// charge sets v to the problem's right hand side: −1 at the places of the ten smallest of a grid of
// random numbers, +1 at those of the ten greatest, 0 elsewhere (zran3).
func (s *solver) charge(ctx context.Context, v *cube) error {
	s.fillRandom(v)
	var own []charge
	for k := 1; k < v.n[2]-1; k++ {
		for j := 1; j < v.n[1]-1; j++ {
			start := (k*v.n[1] + j) * v.n[0]
			for i, x := range v.row(j, k)[1 : v.n[0]-1] {
				own = append(own, charge{x, start + 1 + i})
			}
		}
		own = extremes(own)
	}
	values := make([]float64, 2*charges)
	for i := range values {
		values[i] = 0.5 // between all that count, where a rank has fewer points
	}
	for i, c := range own {
		values[i] = c.value
	}
	all := make([]float64, len(values)*s.comm.Size())
	if err := strand.Allgather(ctx, s.comm, values, all); err != nil {
		return err
	}
	slices.Sort(all)
	clear(v.v)
	for _, c := range own {
		if c.value <= all[charges-1] {
			v.v[c.place] = -1
		} else if c.value >= all[len(all)-charges] {
			v.v[c.place] = 1
		}
	}
	return s.exchange(ctx, s.finest(), v)
}

// extremes keeps the ten smallest and the ten greatest.
func extremes(all []charge) []charge {
	if len(all) <= 2*charges {
		return all
	}
	slices.SortFunc(all, func(a, b charge) int {
		if a.value < b.value {
			return -1
		}
		return 1 // numbers of one period differ
	})
	return append(all[:charges], all[len(all)-charges:]...)
}

// fillRandom fills a rank's part of a grid that has one sequence of random numbers, row by row.
func (s *solver) fillRandom(v *cube) {
	var first [3]int
	for d := range first {
		first[d] = s.first(d, s.at[d], s.size)
	}
	for k := 1; k < v.n[2]-1; k++ {
		for j := 1; j < v.n[1]-1; j++ {
			x := seed
			x.Skip(uint64(first[0] + s.size*(first[1]+j-1+s.size*(first[2]+k-1))))
			x.Fill(v.row(j, k)[1 : v.n[0]-1])
		}
	}
}
