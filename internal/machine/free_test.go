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
