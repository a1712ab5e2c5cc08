package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A noted job writes down when it had its turn.
type noted struct {
	name  string
	turns *[]string
}

func (n noted) Run(context.Context, Order) (Outcome, error) {
	*n.turns = append(*n.turns, n.name)
	return Outcome{Took: time.Millisecond}, nil
}

func (noted) Close() error { return nil }

// No contender always follows the same other one, whose threads and caches it would find.
func TestContendersTakeTurns(t *testing.T) {
	var turns []string
	var all []Contender
	for _, name := range []string{"A", "B", "C"} {
		all = append(all, Contender{Name: name, start: func(context.Context, int) (Job, error) { return noted{name, &turns}, nil }})
	}
	c := Comparison{Cells: []Cell{{Workload: PingPong, Pairs: 1, Window: 1, Size: 8}}, Iters: 1}
	require.NoError(t, c.measure(t.Context(), all, 0, 1, 3, newSamples(len(all), 1)))
	assert.Equal(t, []string{"A", "B", "C", "B", "C", "A", "C", "A", "B"}, turns)
}
