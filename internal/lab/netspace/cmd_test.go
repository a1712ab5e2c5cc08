//go:build linux

package netspace_test

import (
	"io"
	"os/exec"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// A command ends with its parent, not with the thread that happened to start it.
func TestCommandsOutliveThreads(t *testing.T) {
	const commands, threads = 10, 1000
	var inputs []io.Closer
	var running []*netspace.Cmd
	for range commands {
		cmd := netspace.Bind(exec.Command("cat"))
		in, err := cmd.StdinPipe()
		require.NoError(t, err)
		require.NoError(t, cmd.Start())
		inputs, running = append(inputs, in), append(running, cmd)
	}
	var ending sync.WaitGroup
	for range threads {
		ending.Go(func() { _ = netspace.OnThread(func() error { return nil }) })
	}
	ending.Wait()
	for i, cmd := range running {
		require.NoError(t, inputs[i].Close())
		assert.NoError(t, cmd.Wait()) // it has read all that there is
	}
}
