package ft

import (
	"math"
	"math/cmplx"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/examples/nas/npb"
)

// A transform is the sum of its definition, for lengths that are powers of four and such that are not.
func TestTransform(t *testing.T) {
	for n := 2; n <= 128; n *= 2 {
		for _, sign := range []float64{1, -1} {
			numbers := make([]float64, 2*n)
			s := npb.Seed(314159265)
			s.Fill(numbers)
			x := make([]complex128, n)
			for i := range x {
				x[i] = complex(numbers[2*i], numbers[2*i+1])
			}
			want := make([]complex128, n)
			for k := range want {
				for j, v := range x {
					want[k] += v * cmplx.Rect(1, sign*2*math.Pi*float64(j*k%n)/float64(n))
				}
			}
			newPlan(n, sign).transform(x)
			for k := range x {
				assert.InDelta(t, 0, cmplx.Abs(x[k]-want[k]), 1e-11, "n %d, sign %v, place %d", n, sign, k)
			}
		}
	}
}

func TestTranspose(t *testing.T) {
	const rows, columns = 20, 37
	in, out := make([]complex128, rows*columns), make([]complex128, rows*columns)
	for i := range in {
		in[i] = complex(float64(i), 0)
	}
	transpose(out, in, rows, columns)
	for i := range rows {
		for j := range columns {
			assert.Equal(t, in[i*columns+j], out[j*rows+i])
		}
	}
}
