package strandcmd

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/strandmp/strand/internal/test/need"
)

// Where /proc is not mounted, as in a chroot, what starts itself finds itself.
func TestNoProc(t *testing.T) {
	need.Root(t)
	const hide = `mount -t tmpfs none /proc && exec "$@"`
	for _, args := range [][]string{
		{"bench", "pingpong", "--sizes", "8", "--iters", "10"},
		{"compare", "--loopback", "--btl", "tcp", "--workload", "pingpong(size=8)", "--runs", "1", "--ranks", "2", "--out", t.TempDir() + "/out"},
	} {
		cmd := strandProcess(t, args...)
		cmd.Args = slices.Concat([]string{"unshare", "-m", "sh", "-c", hide, "sh", cmd.Path}, args)
		cmd.Path = need.Program(t, "unshare", "util-linux")
		out, err := cmd.CombinedOutput()
		assert.NoError(t, err, "%s", out)
	}
}
