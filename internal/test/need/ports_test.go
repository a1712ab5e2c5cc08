package need

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPorts(t *testing.T) {
	ports, err := Ports(20)
	require.NoError(t, err)
	seen := map[int]bool{}
	for _, port := range ports {
		assert.False(t, seen[port], "%d twice", port)
		assert.Less(t, port, firstEphemeral(), "the kernel gives none of these away")
		seen[port] = true
	}
	assert.Len(t, seen, 20)
}
