package local

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/testnet"
)

// Where the kernel does not end ranks with the thread that has started them, they are started all the same: their lifeline has to do.
func TestRankWithoutADeathSignal(t *testing.T) {
	require.NoError(t, netspace.OnThread(func() error {
		if err := testnet.ForbidDeathSignals(); err != nil {
			return err
		}
		p, err := Start(Command{Path: "/bin/true", Args: []string{"true"}, Size: 1, Processor: -1})
		if err != nil {
			return err
		}
		status, err := p.Wait()
		assert.Zero(t, status.ExitStatus())
		assert.NoError(t, p.Untied)
		assert.NoError(t, p.discard())
		_, err2 := Start(Command{Path: "/etc/passwd", Args: []string{"passwd"}, Size: 1, Processor: -1})
		assert.Error(t, err2, "no program")
		return err
	}))
}
