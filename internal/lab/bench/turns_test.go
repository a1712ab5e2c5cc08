package bench

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A noted pair writes down when it had its turn.
type noted struct {
	name  string
	turns *[]string
}

func (n noted) run(context.Context, order) (time.Duration, error) {
	*n.turns = append(*n.turns, n.name)
	return time.Millisecond, nil
}

func (noted) close() error { return nil }

// No contender always follows the same other one, whose threads and caches it would find.
func TestContendersTakeTurns(t *testing.T) {
	var turns []string
	var all []contender
	for _, name := range []string{"A", "B", "C"} {
		all = append(all, contender{name: name, start: func(context.Context) (pair, error) { return noted{name, &turns}, nil }})
	}
	c := Comparison{Sizes: []int{8}, Iters: 1}
	require.NoError(t, c.measure(t.Context(), all, 3, newSamples(len(all), 1)))
	assert.Equal(t, []string{"A", "B", "C", "B", "C", "A", "C", "A", "B"}, turns)
}
