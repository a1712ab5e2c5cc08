package remote

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/test/leak"
)

// refusing is a shell, by the name of ssh, that lets nobody in for some times.
func refusing(t *testing.T, times int, says string) Host {
	t.Helper()
	dir := t.TempDir()
	shell := filepath.Join(dir, "ssh")
	require.NoError(t, os.WriteFile(shell, fmt.Appendf(nil, `#!/bin/sh
cd %q
echo >>tries
if [ $(wc -l <tries) -le %d ]; then
	echo %q >&2
	exit 255
fi
echo '{"strand":"test"}'
exec cat >/dev/null
`, dir, times, says), 0o700))
	return Host{Name: "a", Shell: []string{shell}, Program: "strand", Patience: time.Minute}
}

// hanging has the host hang where it would let somebody in, and returns a pipe that is opened then.
func hanging(t *testing.T, h *Host) (again string) {
	t.Helper()
	script, err := os.ReadFile(h.Shell[0])
	require.NoError(t, err)
	again = filepath.Join(t.TempDir(), "again")
	require.NoError(t, unix.Mkfifo(again, 0o600))
	script = bytes.Replace(script, []byte("echo '{"), fmt.Appendf(nil, "echo >%q\nread never\necho '{", again), 1)
	require.NoError(t, os.WriteFile(h.Shell[0], script, 0o700))
	return again
}

// One login of many may be turned away by sshd, for no fault.
func TestLoginThatIsTurnedAway(t *testing.T) {
	leak.Check(t)
	for _, says := range []string{"kex_exchange_identification: Connection closed by remote host", ""} {
		l, err := Connect(t.Context(), refusing(t, 2, says), "test", nil)
		require.NoError(t, err)
		require.NoError(t, l.Leave())
	}
	_, err := Connect(t.Context(), refusing(t, 1, "Permission denied (publickey)."), "test", nil)
	require.ErrorContains(t, err, "Permission denied", "it would be no different the next time")

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	h := refusing(t, 1, "kex_exchange_identification: read: Connection reset by peer")
	again := hanging(t, &h)
	go func() {
		_, _ = os.ReadFile(again) // until the second login has begun
		cancel()
	}()
	_, err = Connect(ctx, h, "test", nil)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, "kex_exchange_identification")
}
