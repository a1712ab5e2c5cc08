package sctp

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The system gives less than was asked for, and says nothing; so we do.
func TestBuffersThatTheKernelCuts(t *testing.T) {
	for limit, parameter := range map[string]string{"rmem_max": pRcvbuf, "wmem_max": pSndbuf} {
		text, err := os.ReadFile("/proc/sys/net/core/" + limit)
		require.NoError(t, err)
		n, err := strconv.Atoi(strings.TrimSpace(string(text)))
		require.NoError(t, err)
		asked := max(n+n/2, 8<<20)
		a := newNode(t, 0, with(parameter, fmt.Sprint(asked)))
		require.Len(t, a.logged(fmt.Sprintf("%d were asked for (sysctl net.core.%s=%[1]d)", asked, limit)), 1)
	}
	require.Empty(t, newNode(t, 0).logged("were asked for"), "the default is nobody's wish")
}
