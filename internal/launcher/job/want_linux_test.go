package job

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// What Go's runtime says where there is too little address space for it to begin is known.
func TestWantOfAddressSpace(t *testing.T) {
	need.Program(t, "go", "golang")
	c, out := shell("ulimit -v 400000; exec go version", 1)
	assert.ErrorContains(t, Run(t.Context(), c), "ulimit -v", "%s", out)
}

// The kernel ends a rank before its launcher.
func TestRanksAreEndedBeforeTheLauncher(t *testing.T) {
	own, err := os.ReadFile("/proc/self/oom_score_adj")
	require.NoError(t, err)
	c, out := shell("echo up; read x; cat /proc/self/oom_score_adj", 1)
	input, end, err := os.Pipe()
	require.NoError(t, err)
	defer input.Close()
	c.Stdin = input
	done := make(chan error, 1)
	go func() { done <- Run(t.Context(), c) }()
	out.Await(t, "up\n", 1) // it is heard when it was started
	require.NoError(t, end.Close())
	require.NoError(t, <-done)
	var before, after int
	_, err = fmt.Sscan(string(own), &before)
	require.NoError(t, err)
	_, err = fmt.Sscan(strings.TrimPrefix(out.String(), "up\n"), &after)
	require.NoError(t, err)
	assert.Equal(t, min(before+500, 1000), after)
}

// A memory cgroup is too small for the ranks. One of them is ended, and that is said.
func TestMemoryOfACgroup(t *testing.T) {
	if !need.Soaking() {
		return // not every machine that has all else has the controller
	}
	need.Root(t)
	group := memoryGroup(t, 8<<20)
	c, out := shell("echo $$ >"+group+"/cgroup.procs; exec head -c 100m /dev/zero | tail", 2)
	assert.ErrorContains(t, Run(t.Context(), c), "for want of memory", "%s", out)
}

// memoryGroup makes a cgroup whose processes may have so much memory.
func memoryGroup(t *testing.T, limit int) (path string) {
	t.Helper()
	for root, file := range map[string]string{"/sys/fs/cgroup/memory": "memory.limit_in_bytes", "/sys/fs/cgroup": "memory.max"} {
		path = filepath.Join(root, "strandtest-"+rand.Text())
		if os.Mkdir(path, 0o755) != nil {
			continue
		}
		t.Cleanup(func() { _ = os.Remove(path) })
		if os.WriteFile(filepath.Join(path, file), []byte(strconv.Itoa(limit)), 0) == nil {
			return path
		}
	}
	need.That(t, false, "no memory cgroup can be made")
	return ""
}
