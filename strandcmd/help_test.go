package strandcmd

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// full is a device without room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, syscall.ENOSPC }

// Help that could not be written is an error as any other output's.
func TestHelpIntoAFullDevice(t *testing.T) {
	for _, line := range [][]string{{}, {"--help"}, {"help", "run"}, {"run", "--help"}, {"bench"}, {"--version"}, {"info"}} {
		var stderr bytes.Buffer
		require.Equal(t, 1, execute(line, nil, full{}, &stderr), "%v", line)
		require.Contains(t, stderr.String(), syscall.ENOSPC.Error(), "%v", line)
	}
}
