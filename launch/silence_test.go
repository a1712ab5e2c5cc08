package launch

import (
	"bufio"
	"context"
	"errors"
	"net"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/launcher/pmi"
)

var errHeard = errors.New("heard")

// heard returns the line that a call says on standard error while nobody answers it. Then it ends the call.
func heard(t *testing.T, call func(context.Context) error) string {
	t.Helper()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	before, long := os.Stderr, patience
	os.Stderr, patience = writer, time.Millisecond
	defer func() { os.Stderr, patience = before, long }()
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- call(ctx) }()
	line, err := bufio.NewReader(reader).ReadString('\n')
	assert.NoError(t, err)
	cancel(errHeard)
	assert.ErrorIs(t, <-ended, errHeard)
	require.NoError(t, writer.Close())
	return line
}

// A variable that is left over may name any stream, and a launcher may be stopped. Who waits there says so, and what to do.
func TestSilentLauncherIsTold(t *testing.T) {
	streams, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	defer func() { _ = syscall.Close(streams[0]) }()
	joined.Store(false)
	own := strconv.Itoa(streams[1])
	line := heard(t, func(ctx context.Context) error {
		_, err := fromEnvironment(ctx, environ{"PMI_FD": own, "PMI_RANK": "0", "PMI_SIZE": "2"}.lookup, "testhost")
		return err
	})
	assert.Equal(t, "strand: testhost has waited for 1ms for an answer of the launcher at PMI_FD="+own+" (from the environment): is it stopped? "+
		"If there is none, and another job has left the variable behind, unset PMI_FD to run a world of one\n", line)
}

func TestSilentLauncherAtAPortIsTold(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	joined.Store(false)
	line := heard(t, func(ctx context.Context) error {
		_, err := fromEnvironment(ctx, environ{"PMI_PORT": listener.Addr().String(), "PMI_ID": "0"}.lookup, "testhost")
		return err
	})
	assert.Contains(t, line, "for an answer of the launcher at PMI_PORT="+listener.Addr().String())
}

// A launcher may be stopped later too.
func TestPutToASilentLauncherIsTold(t *testing.T) {
	ours, launchers := net.Pipe()
	asked := make(chan error, 1)
	go func() { asked <- answerUntilPut(launchers) }()
	m := &member{client: pmi.NewClient(ours), rank: 1, size: 2, hostname: "testhost", launcher: "hydra"}
	require.NoError(t, m.client.Init(context.Background()))
	line := heard(t, func(ctx context.Context) error { return m.Put(ctx, "key", "value") })
	assert.Equal(t, "strand: rank 1 of 2 on testhost has waited for 1ms for an answer of its launcher (hydra): is it stopped?\n", line)
	require.NoError(t, <-asked)
	require.NoError(t, m.client.Drop())
	require.NoError(t, launchers.Close())
}
