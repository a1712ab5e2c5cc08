//go:build linux

package nettest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestRecord(t *testing.T) {
	k := newRecord(2)
	out, stderr := k.writer(false), k.writer(true)
	changed := k.changes()
	for text := "[0] one\n[1] strand run: rank 0: exited with status 5\n[7] nobody\n[0] \n[1] unfinished"; text != ""; text = text[min(len(text), 5):] {
		_, _ = out.Write([]byte(text[:min(len(text), 5)]))
	}
	<-changed
	_, _ = strings.NewReader("strand run: rank 1 on host vm: started, pid 123\n[0] two\n" +
		"strand run: rank 1: ended by SIGKILL\nstrand run: rank 9: exited with status 1\nstrand run: rank 1 on host vm (pid 123) was killed\n").WriteTo(stderr)
	k.finish()

	texts := func(rank int) (all []string) {
		for _, line := range k.ranks[rank].lines {
			all = append(all, line.Text)
			assert.Equal(t, line.Text == "two", line.Stderr)
		}
		return all
	}
	assert.Equal(t, []string{"one", "", "two"}, texts(0))
	assert.Equal(t, []string{"strand run: rank 0: exited with status 5", "unfinished"}, texts(1))
	assert.Empty(t, k.ranks[0].status)
	assert.Equal(t, "ended by SIGKILL", k.ranks[1].status)
	assert.Equal(t, 123, k.ranks[1].pid)
}
