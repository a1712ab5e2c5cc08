package report_test

import (
	"math"
	"math/rand/v2"
)

// exponential are times with a long tail.
type exponential struct{ *rand.Rand }

func newExponential(seed uint64) exponential { return exponential{rand.New(rand.NewPCG(seed, 0))} }

func (e exponential) sample(n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = e.ExpFloat64()
	}
	return values
}

func (e exponential) median() float64 { return math.Ln2 }
