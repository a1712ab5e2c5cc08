package job

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRanksHaveSlack(t *testing.T) {
	c, out := shell("cat /proc/self/timerslack_ns", 2)
	require.NoError(t, Run(context.Background(), c))
	require.Equal(t, "1000000\n1000000\n", out.String())
}
