package local

import (
	"errors"
	"os"
	"syscall"
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

// A rank that has become another user's, as by sudo, can not be ended. It is left behind, where it was waited for for ever.
func TestRankThatCanNotBeKilled(t *testing.T) {
	input, write, err := os.Pipe()
	require.NoError(t, err)
	path, err := Find("cat")
	require.NoError(t, err)
	var p *Process
	require.NoError(t, netspace.OnThread(func() (err error) {
		if p, err = Start(Command{Path: path, Args: []string{"cat"}, Stdin: input, Size: 1, Processor: -1}); err != nil {
			return err
		}
		if err := testnet.ForbidKilling(); err != nil {
			return err
		}
		p.Signal(syscall.SIGTERM)
		p.Signal(syscall.SIGKILL)
		p.Signal(syscall.SIGKILL)
		_, err = p.Wait()
		assert.ErrorIs(t, err, ErrBeyond)
		require.NoError(t, write.Close()) // then it ends by itself
		<-p.ended
		return nil
	}))
	require.NoError(t, input.Close())
	require.NoError(t, p.discard())
}

// One that the system has refused to kill may have been ending, and how it ended counts.
func TestRankThatEndsAsItIsKilled(t *testing.T) {
	p := &Process{beyond: make(chan struct{}), ended: make(chan error, 1)}
	p.ended <- errors.New("its status")
	close(p.beyond)
	known, err := p.awaitEnd()
	assert.True(t, known)
	assert.EqualError(t, err, "its status")
}
