package accuracy

import "math"

// interval returns what shares, at 95 %, may have led to one that was seen in n
// independent trials: the interval of Wilson (1927), which is right for shares near 0 too.
func interval(share float64, n int) (low, high float64) {
	const z = 1.96
	count := float64(n)
	middle := share + z*z/(2*count)
	half := z * math.Sqrt(share*(1-share)/count+z*z/(4*count*count))
	whole := 1 + z*z/count
	low, high = (middle-half)/whole, (middle+half)/whole
	if share == 0 {
		low = 0 // but for rounding
	}
	return low, high
}
