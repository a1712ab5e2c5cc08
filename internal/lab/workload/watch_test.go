package workload

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/btl"
)

// However long a run is, what is remembered of it stays bounded and covers all of it.
func TestWatchForgets(t *testing.T) {
	s := &watch{start: time.Now(), every: time.Millisecond, seen: make(map[string]*seen)}
	rail := strand.RailReport{Module: "tcp", Desc: "a → b", Congestion: &btl.Congestion{RoundTrip: time.Millisecond, Resent: -1}}
	const looks = 3 * maxMoments
	for i := range looks {
		rail.Congestion.Window = i + 1
		s.look([]strand.RailReport{rail, {Module: "self"}})
		if len(s.course) == maxMoments {
			s.thin()
		}
		assert.Less(t, len(s.course), maxMoments)
		assert.Len(t, s.seen["tcp a → b"].windows, len(s.course))
	}
	assert.Equal(t, 32*time.Millisecond, s.every)
	c := s.connection(rail)
	assert.Less(t, c.Window.Least, float64(looks/5))
	assert.Equal(t, float64(looks), c.Window.Most)
	assert.Equal(t, Spread{1e-3, 1e-3, 1e-3}, c.RoundTrip)
	assert.EqualValues(t, -1, c.Resent)
	assert.Equal(t, Connection{Module: "self", Resent: -1, Timeouts: -1}, s.connection(strand.RailReport{Module: "self"}))
}
