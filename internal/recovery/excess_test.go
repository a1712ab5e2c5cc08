package recovery

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/emulate"
)

// When the window of CUBIC is reduced a flow goes on to send, less than before: it does not wait until so much less is under way.
func TestAReductionIsSpreadOverARoundTrip(t *testing.T) {
	const rate, trip = 40 * emulate.Mbit, 40 * time.Millisecond
	s := simulate(t, link(2, rate, trip/2, product(rate, trip/2), nil))
	f := s.add(NewCubic(packetSize), endless)
	for f.Congestions < 2 {
		s.run(s.now + time.Second)
	}
	for before := f.Congestions; f.Congestions == before; {
		require.Less(t, s.now, 5*time.Minute)
		s.run(s.now + time.Millisecond)
	}
	began, longest, last := s.now, time.Duration(0), s.now
	for sent := f.Sent; s.now < began+2*trip; { // with the queue a round trip is two of these
		s.run(s.now + 100*time.Microsecond)
		longest = max(longest, s.now-last)
		if f.Sent != sent {
			sent, last = f.Sent, s.now
		}
	}
	assert.Less(t, longest, trip/10, "without a packet: %v", f)
	assert.LessOrEqual(t, f.UnderWay(), f.control.Window())
}
