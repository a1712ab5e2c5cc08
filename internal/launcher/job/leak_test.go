//go:build linux

package job

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestNoDescriptorLeaks(t *testing.T) {
	count := func() int {
		entries, err := os.ReadDir("/proc/self/fd")
		require.NoError(t, err)
		return len(entries)
	}
	run := func() {
		c, out := playing(t, "exchange", 4)
		require.NoError(t, Run(context.Background(), c), "%s", out)
		c, _ = shell("exit 1", 4)
		require.Error(t, Run(context.Background(), c))
		c.Program = "/"
		require.Error(t, Run(context.Background(), c))
	}
	run() // opens what the runtime keeps
	before := count()
	for range 3 {
		run()
	}
	assert.Equal(t, before, count())
}
