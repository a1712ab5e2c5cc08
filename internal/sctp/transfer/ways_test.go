package transfer

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Of one piece the expectation has a closed form; where much was seen it is a power of the likelihood; and little that was seen makes nobody sure.
func TestHowLikelyARowOfLossesIs(t *testing.T) {
	for _, r := range []recent{{}, {arrived: 9}, {arrived: 40, lost: 3}, {arrived: 200, lost: 20}, {arrived: 3, lost: 90}} {
		want := 1.0
		for i := range mostRow {
			want *= float64(r.lost+1+i) / float64(r.arrived+r.lost+2+i)
			assert.InDelta(t, want, r.allLost(i+1, 1), 1e-8, "%+v, %d in a row", r, i+1)
		}
	}
	much := recent{arrived: 900_000, lost: 100_000}
	assert.InEpsilon(t, math.Pow(1-math.Pow(0.9, 3), 5), much.allLost(5, 3), 0.001)
	little := recent{arrived: 18}
	assert.Greater(t, little.allLost(4, 2), 10*math.Pow(1-math.Pow(19.0/20, 2), 4))
	assert.Less(t, (&recent{arrived: 256}).allLost(1000, 2), 1e-6)
}
