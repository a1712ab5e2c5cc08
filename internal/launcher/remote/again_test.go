package remote

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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

	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, err = Connect(ctx, refusing(t, 100, "kex_exchange_identification: read: Connection reset by peer"), "test", nil)
	require.ErrorContains(t, err, "kex_exchange_identification")
}
