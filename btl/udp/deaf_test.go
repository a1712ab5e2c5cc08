package udp

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A peer is heard that nothing arrives at, or nothing that is longer than the shortest packets: it is given up after
// btl_udp_timeout, as one that is silent.
func TestAPeerThatHearsNothing(t *testing.T) {
	for name, lost := range map[string]func([]byte) bool{
		"at all":       func([]byte) bool { return true },
		"that is long": func(b []byte) bool { return len(b) > 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			p := connected(t)
			p.meddle = lost
			p.send(frame("long", strings.Repeat("x", 100_000)))
			end := p.clock.Now() + int64(20*time.Minute)
			for p.clock.Now() < end && p.recv[0].Downs == 0 {
				p.turn()
				p.clock.Advance(10 * time.Millisecond)
			}
			require.Equal(t, 1, p.recv[0].Downs)
			assert.Less(t, p.clock.Now(), int64(2*time.Minute))
		})
	}
}
