//go:build linux

package accuracy

import "math"

// usual and wide are how many standard deviations an interval of 95 %, and of 99.9 %, reaches.
const (
	usual = 1.96
	wide  = 3.29
)

// interval returns what shares may have led to one that was seen in n
// independent trials: the interval of Wilson (1927), which is right for shares near 0 too.
func interval(share float64, n int, z float64) (low, high float64) {
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
