package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/test/need"
)

// A flow with CUBIC has, through a bottleneck with a queue of one bandwidth × delay, between half and twice what one beside it
// has that is not paced, as the kernel's TCP is not: over a minute if both begin together, and over the next minute if one of
// them had the bottleneck for itself at first. Package rates in internal/test/nettest has them beside the kernel itself.
func TestBesideAFlowThatIsNotPaced(t *testing.T) {
	for _, mbits := range []emulate.Rate{20, 40, 100}[:need.Times(1, 3)] {
		for _, trip := range []time.Duration{10 * time.Millisecond, 40 * time.Millisecond, 80 * time.Millisecond} {
			for _, head := range []time.Duration{0, 5 * time.Second, -5 * time.Second}[:need.Times(1, 3)] {
				share := besideUnpaced(t, mbits*emulate.Mbit, trip, head)
				t.Logf("%v, %v, %v ahead: %.2f times", mbits*emulate.Mbit, trip, head, share)
				assert.Greater(t, share, 0.5, "%v, %v, %v ahead", mbits*emulate.Mbit, trip, head)
				assert.Less(t, share, 2.0, "%v, %v, %v ahead", mbits*emulate.Mbit, trip, head)
			}
		}
	}
}

// besideUnpaced is how many times what the other flow has had one has had in a minute. It begins so much before the other
// one, or after it.
func besideUnpaced(t *testing.T, rate emulate.Rate, trip, head time.Duration) float64 {
	c := link(3, rate, trip/2, product(rate, trip/2), nil)
	for sender := 1; sender <= 2; sender++ {
		c.NICs[sender].Rate = 0 // so that the receiver's is the bottleneck
	}
	s := simulate(t, c)
	ours, other := s.add(NewCubic(packetSize), endless), s.add(NewCubic(packetSize), endless)
	other.unpaced = true
	if head != 0 {
		ours.quiet, other.quiet = head < 0, head > 0
		s.run(max(head, -head))
		ours.quiet, other.quiet = false, false
		s.run(s.now + time.Minute)
	}
	before := [2]int{ours.goodput, other.goodput}
	s.run(s.now + time.Minute)
	return float64(ours.goodput-before[0]) / float64(other.goodput-before[1])
}
