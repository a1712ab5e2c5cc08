package sctp

import (
	"fmt"
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

// Where packets are lost, those that were sent again too, and acknowledgements, all comes, once, and in order on each
// stream.
func TestLosses(t *testing.T) {
	leak.Check(t)
	const frames, lanes = 60, 8
	a, b := newNode(t, 0, with(pLoopbackMTU, "1440")), newNode(t, 1, with(pLoopbackMTU, "1440"))
	join(t, a, b)
	seed := rand.Uint64()
	t.Logf("seed %#x", seed)
	for i, n := range []*node{a, b} {
		n.stack().Filter((&lossy{chance: rand.New(rand.NewPCG(seed, uint64(i)))}).pass)
	}
	for i := range frames {
		a.send(fmt.Sprint(i%lanes)+strings.Repeat("x", 60_000+i), i%lanes, b)
	}
	await(t, "all", func() bool { return len(b.frames) == frames }, a, b)
	c := a.ep.(*endpoint).Report().Congestion
	require.NotNil(t, c)
	t.Logf("%d packets lost, %d probes", c.Resent, c.Timeouts)
	next := make([]int, lanes)
	for _, f := range b.frames {
		lane := int(f[0] - '0')
		require.Len(t, f, 60_001+next[lane]*lanes+lane)
		next[lane]++
	}
}

// Timeouts are counted.
func TestTimeoutsAreCounted(t *testing.T) {
	leak.Check(t)
	a, b := newNode(t, 0), newNode(t, 1)
	join(t, a, b)
	require.Zero(t, timeouts(t, a))
	a.stack().Filter(func([]byte) bool { return false })
	a.send(messageA, 0, b)
	await(t, "a timeout", func() bool { return timeouts(t, a) > 0 }, a, b)
}
