package sctp

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/need"
)

// The system gives less than was asked for, and says nothing; so we do.
func TestBuffersThatTheSystemCuts(t *testing.T) {
	for limit, parameter := range map[string]string{"rmem_max": pRcvbuf, "wmem_max": pSndbuf} {
		text, err := os.ReadFile("/proc/sys/net/core/" + limit)
		need.That(t, err == nil, "a network namespace that shows its limits: %v", err)
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		asked := max(n+4096, 1<<20) // less has no room for a frame on each stream
		if asked > 1<<30 {
			continue // more than can be asked for
		}
		a := newNode(t, 0, with(parameter, fmt.Sprint(asked)))
		require.Len(t, a.logged(fmt.Sprintf("%d were asked for (sysctl net.core.%s=%[1]d)", asked, limit)), 1)
	}
	require.Empty(t, newNode(t, 0).logged("were asked for"), "the default is nobody's wish")
}
