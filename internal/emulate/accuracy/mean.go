package accuracy

import "math"

// A Mean is that of some runs, with the interval in which that of all runs is, at 95 %,
// by Student's t.
type Mean struct {
	Value float64 `json:"value"`
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Runs  int     `json:"runs"`
}

func meanOf(values []float64) Mean {
	n := float64(len(values))
	sum, squares := 0.0, 0.0
	for _, v := range values {
		sum += v
	}
	mean := sum / n
	if len(values) < 2 {
		return Mean{mean, math.Inf(-1), math.Inf(1), len(values)}
	}
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	half := student(n-1) * math.Sqrt(squares/(n-1)/n)
	return Mean{mean, mean - half, mean + half, len(values)}
}

// student is the 97.5 % quantile of Student's t for so many degrees of freedom, by the
// expansion of Cornish and Fisher (Abramowitz and Stegun, 26.7.5): from 3 on it is right to
// 2 %, from 9 on to 0.1 %.
func student(freedom float64) float64 {
	const z = 1.959964
	z3, z5 := z*z*z, z*z*z*z*z
	z7, z9 := z5*z*z, z5*z*z*z*z
	return z + (z3+z)/(4*freedom) +
		(5*z5+16*z3+3*z)/(96*freedom*freedom) +
		(3*z7+19*z5+17*z3-15*z)/(384*freedom*freedom*freedom) +
		(79*z9+776*z7+1482*z5-1920*z3-945*z)/(92160*freedom*freedom*freedom*freedom)
}
