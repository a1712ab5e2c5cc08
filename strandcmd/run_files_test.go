package strandcmd

import (
	"fmt"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/assert"
)

// Whatever it is for which there is no descriptor left, here or on a host, strand run says how many there may be.
func TestRunLacksDescriptors(t *testing.T) {
	command := strandProcess(t)
	for _, where := range []string{"", "--host localhost"} {
		for limit := 9; limit < 24; limit += 2 {
			line := fmt.Sprintf(`ulimit -n %d; exec "$0" run %s -n 2 true`, limit, where)
			cmd := exec.CommandContext(t.Context(), "sh", "-c", line, command.Path)
			cmd.Env = command.Env
			said, _ := cmd.CombinedOutput() // what it says tells
			assert.Contains(t, string(said), "too many open files", line)
			assert.Contains(t, string(said), fmt.Sprintf("this process may have %d open files: raise the limit with ulimit -n", limit), line)
			assert.NotContains(t, string(said), "--host-strand", line)
		}
	}
}
