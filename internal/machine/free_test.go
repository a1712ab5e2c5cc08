package machine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Files in memory that the kernel would drop count as free memory.
func TestRoomInAControlGroup(t *testing.T) {
	group := t.TempDir()
	write := func(file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte(text), 0o600))
	}
	_, limited := groupMemory(group)
	assert.False(t, limited)
	write("memory.current", "900\n")
	write("memory.max", "max\n")
	_, limited = groupMemory(group)
	assert.False(t, limited)
	write("memory.max", "1000\n")
	free, limited := groupMemory(group)
	assert.True(t, limited)
	assert.EqualValues(t, 100, free)
	write("memory.stat", "anon 100\nactive_file 50\ninactive_file 700\n")
	free, _ = groupMemory(group)
	assert.EqualValues(t, 800, free)
}

// What the groups around a group may have counts too: batch systems bound a job, and not each of its processes.
func TestRoomInTheGroupsAroundIt(t *testing.T) {
	root := t.TempDir()
	job := filepath.Join(root, "job_7")
	task := filepath.Join(job, "step_0", "task_0")
	require.NoError(t, os.MkdirAll(task, 0o700))
	write := func(group, most, used string) {
		require.NoError(t, os.WriteFile(filepath.Join(group, "memory.max"), []byte(most), 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(group, "memory.current"), []byte(used), 0o600))
	}
	room := func() (uint64, bool) { return roomIn(root, "/job_7/step_0/task_0") }
	write(task, "max\n", "100\n")
	_, limited := room()
	assert.False(t, limited)
	write(job, "1000\n", "400\n")
	free, limited := room()
	assert.True(t, limited)
	assert.EqualValues(t, 600, free)
	write(task, "300\n", "100\n")
	free, _ = room()
	assert.EqualValues(t, 200, free)
	write(root, "500\n", "450\n")
	free, _ = room()
	assert.EqualValues(t, 50, free)
}

// Hosts and containers with control groups of version 1 name these files differently.
func TestRoomInAGroupOfVersion1(t *testing.T) {
	root := t.TempDir()
	job := filepath.Join(root, "job_7")
	require.NoError(t, os.Mkdir(job, 0o700))
	write := func(group, file, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(group, file), []byte(text), 0o600))
	}
	write(root, "memory.limit_in_bytes", "9223372036854771712\n") // none
	write(root, "memory.usage_in_bytes", "5000\n")
	write(job, "memory.limit_in_bytes", "1000\n")
	write(job, "memory.usage_in_bytes", "900\n")
	write(job, "memory.stat", "cache 700\ninactive_file 0\ntotal_cache 700\ntotal_inactive_file 600\n")
	free, limited := roomIn(root, "/job_7")
	assert.True(t, limited)
	assert.EqualValues(t, 700, free)
	assert.Equal(t, map[string]string{"/sys/fs/cgroup": "/user", "/sys/fs/cgroup/memory": "/job_7"},
		controlGroups("4:cpu,memory:/job_7\n1:name=systemd:/user:1\n0::/user\n"))
}
