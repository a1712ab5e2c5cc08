package job

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
)

// A rank that ends for want of something is named, with what to raise.
func TestWants(t *testing.T) {
	for words, remedy := range map[string]string{
		"runtime/cgo: pthread_create failed: Resource temporarily unavailable":                   "ulimit -u",
		"runtime: failed to create new OS thread (have 5 already; errno=11)":                     "ulimit -u",
		"runtime: out of memory: cannot allocate 4194304-byte block\nfatal error: out of memory": "ulimit -v",
		"runtime: eventfd failed with 24\nfatal error: runtime: eventfd failed":                  "ulimit -n",
	} {
		for _, end := range []string{"exit 2", "kill -ABRT $$"} {
			c, out := shell(`[ $PMI_RANK = 1 ] || exec sleep 600; echo "$WORDS" >&2; `+end, 2)
			c.Environ = []string{"WORDS=" + words}
			err := Run(t.Context(), c)
			assert.ErrorContains(t, err, "rank 1 on host ", "%s", out)
			assert.ErrorContains(t, err, remedy)
		}
	}
	c, _ := shell("echo pthread_create succeeded; exit 2", 1)
	assert.NotContains(t, Run(t.Context(), c).Error(), "ulimit")
}

// That one was ended for want of memory is said of a rank that was killed, and of no other.
func TestWantOfMemory(t *testing.T) {
	j := &job{}
	for _, f := range []RankError{{How: Killed, Signal: syscall.SIGKILL}, {How: Killed, Signal: syscall.SIGKILL, Message: "known"}} {
		known := f.Message
		j.explainWant(&UnreadError{&f}, -1)
		if known == "" {
			assert.Contains(t, f.Error(), "for want of memory since the job began")
		} else {
			assert.Equal(t, known, f.Message)
		}
	}
	other := errors.New("another end")
	j.explainWant(other, -1)
	assert.EqualError(t, other, "another end")
}
