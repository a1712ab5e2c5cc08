package local

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Another part of the program may wait for all children, as one that is a container's first process does.
func TestRankThatSomebodyElseHasReaped(t *testing.T) {
	p, err := Start(Command{Path: "/bin/true", Args: []string{"true"}, Size: 1, Processor: -1})
	require.NoError(t, err)
	_, err = syscall.Wait4(p.PID(), nil, 0, nil)
	require.NoError(t, err)
	_, err = p.Wait()
	require.ErrorIs(t, err, syscall.ECHILD)
	require.NoError(t, p.discard())
}
