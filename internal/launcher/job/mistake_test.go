package job

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
)

// playMistake is a program with a parameter that no rank can start with.
func playMistake(name, value string) {
	err := strand.Run(context.Background(), func(context.Context, *strand.World) error { return nil }, strand.WithParam(name, value))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// A mistake that every rank finds is told once, by the launcher, whether it is found
// before a rank joins its job or afterwards.
func TestMistakesAreToldOnce(t *testing.T) {
	for role, want := range map[string]string{
		"mistake":    `there is no transport "nosuch"`,
		"no network": `no interface that is up fits "nosuch0"`,
	} {
		c, out := playing(t, role, 6)
		var failure *RankError
		require.ErrorAs(t, Run(context.Background(), c), &failure, "%s: %s", role, out)
		assert.Equal(t, Aborted, failure.How)
		assert.Contains(t, failure.Message, want)
		assert.Empty(t, out.String(), role)
	}
	c, out := playing(t, "mistake", 1)
	require.Error(t, Run(context.Background(), c))
	assert.Contains(t, out.String(), "nosuch", "nobody else has to be told of it")
}
