package local

import (
	"errors"
	"fmt"
	"io/fs"
	"os/exec"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The program is to blame where the system does not run it, and for nothing that is wanted before.
func TestWhatIsLackingToStart(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		lacks  bool
		remedy string
	}{
		"not a program":    {exec.CommandContext(t.Context(), "/etc/passwd").Start(), false, ""},
		"sockets":          {fmt.Errorf("socketpair: %w", syscall.EPERM), true, ""},
		"a place to write": {fmt.Errorf("memory for its trace: %w", &fs.PathError{Op: "write", Err: syscall.EFBIG}), true, "ulimit -f"},
		"no input":         {&fs.PathError{Op: "open", Path: "/dev/null", Err: syscall.ENOENT}, true, ""},
		"descriptors":      {errors.Join(syscall.EMFILE, nil), true, "ulimit -n"},
		"processes":        {&fs.PathError{Op: "fork/exec", Err: syscall.EAGAIN}, true, "ulimit -u"},
	} {
		err, lacks := Lacking(c.err, 7)
		assert.Equal(t, c.lacks, lacks, name)
		assert.ErrorContains(t, err, c.remedy, name)
	}
}
