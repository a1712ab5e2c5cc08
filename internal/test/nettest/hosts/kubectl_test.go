//go:build linux

package hosts

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A stand-in for kubectl takes just the command line of docs/KUBERNETES.md, and hands each word on
// as it is.
const kubectl = `#!/bin/sh
case "$#:$1 $2 $3 $4 $5 $6" in
"7:exec -i pod-"[01]" -- sh -c") exec sh -c "$7";;
esac
echo "kubectl: $# words: $*" >&2
exit 1
`

func TestKubectl(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	stand := filepath.Join(t.TempDir(), "kubectl")
	require.NoError(t, os.WriteFile(stand, []byte(kubectl), 0o755))
	cmd := exec.CommandContext(t.Context(), self, "run", "--host", "pod-0:2,pod-1:2", "--wdir", "/", "--push", "--timeout", "2m", "--btl", "tcp,self",
		"-p", "btl_tcp_if_include=lo", "--rsh", stand+" exec -i {host} -- sh -c {command}", self, "ring")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	assert.Equal(t, "round 4\n", string(out))
}
