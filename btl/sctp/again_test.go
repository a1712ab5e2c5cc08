package sctp

import (
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/leak"
)

// A lossy loses packets at random.
type lossy struct {
	mu     sync.Mutex
	chance *rand.Rand
}

func (l *lossy) pass([]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.chance.Float64() >= 0.03
}

// timeouts that the stack of a node has had to its peer.
func timeouts(t *testing.T, n *node) int64 {
	c := n.ep.(*endpoint).Report().Congestion
	require.NotNil(t, c)
	return c.Timeouts
}

// Where packets are lost, those that were sent again too, and acknowledgements, no timeout is
// needed: without this stack's own probes it takes some.
func TestLossesNeedNoTimeout(t *testing.T) {
	leak.Check(t)
	const (
		attempts = 10 // the processor may be away for a second
		frames   = 200
	)
	long := strings.Repeat("x", 60_000)
	for range attempts {
		a, b := newNode(t, 0, with(pLoopbackMTU, "1440")), newNode(t, 1, with(pLoopbackMTU, "1440"))
		join(t, a, b)
		seed := rand.Uint64()
		for i, n := range []*node{a, b} {
			n.stack().Filter((&lossy{chance: rand.New(rand.NewPCG(seed, uint64(i)))}).pass)
		}
		for i := range frames {
			a.send(long, i%8, b)
		}
		await(t, "all", func() bool { return len(b.frames) == frames }, a, b)
		c := a.ep.(*endpoint).Report().Congestion
		require.NotNil(t, c)
		t.Logf("seed %#x: %d chunks sent again, %d timeouts", seed, c.Resent, c.Timeouts)
		if c.Timeouts == 0 {
			return
		}
	}
	t.Errorf("timeouts in each of %d attempts", attempts)
}

// Timeouts are counted, which pion tells its log alone.
func TestTimeoutsAreCounted(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0), newNode(t, 1)
	join(t, a, b)
	require.Zero(t, timeouts(t, a))
	a.stack().Filter(func([]byte) bool { return false })
	a.send(messageA, 0, b)
	await(t, "a timeout", func() bool { return timeouts(t, a) > 0 }, a, b)
}
