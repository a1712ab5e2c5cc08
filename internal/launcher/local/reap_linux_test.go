package local

import (
	"os"
	"os/exec"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// children are processes that end with their input.
func children(t *testing.T, n int) (groups []*Group, ends []func() error, end func()) {
	t.Helper()
	read, write, err := os.Pipe()
	require.NoError(t, err)
	for range n {
		cmd := exec.Command("cat")
		cmd.Stdin, cmd.SysProcAttr = read, &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, cmd.Start())
		groups, ends = append(groups, &Group{PID: cmd.Process.Pid}), append(ends, cmd.Wait)
	}
	require.NoError(t, read.Close())
	return groups, ends, func() { require.NoError(t, write.Close()) }
}

// A launcher of many ranks takes no thread for each: they would count towards the limits of processes and of
// address space.
func TestManyChildrenTakeNoThreads(t *testing.T) {
	n := need.Times(60, 1000)
	groups, ends, end := children(t, n)
	before := threads(t)
	var waiting sync.WaitGroup
	entered := make(chan struct{}, n)
	for i, g := range groups {
		waiting.Go(func() {
			entered <- struct{}{}
			assert.NoError(t, g.Reap(ends[i]))
		})
	}
	for range n {
		<-entered
	}
	for _, g := range groups {
		require.NoError(t, syscall.Kill(g.PID, 0), "it lives")
	}
	end()
	waiting.Wait()
	assert.Less(t, threads(t)-before, n/2, "Go keeps its threads")
}

func threads(t *testing.T) int {
	t.Helper()
	tasks, err := os.ReadDir("/proc/self/task")
	require.NoError(t, err)
	return len(tasks)
}

// A child that has ended before anybody waits for it is no different.
func TestChildThatHasEnded(t *testing.T) {
	groups, ends, end := children(t, 1)
	end()
	require.NoError(t, groups[0].Reap(ends[0]))
	require.Error(t, syscall.Kill(groups[0].PID, 0), "its number is given up")
}
