package strandcmd

import (
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

// timeout(1) sends a signal to its child and at once to the whole group: that is one interruption, in which everything is tidied up. A
// second one that somebody means ends the process.
func TestTwoSignalsAtOnceAreOne(t *testing.T) {
	for name, c := range map[string]struct {
		signals  []syscall.Signal
		gaps     []time.Duration // before each
		exits    int
		canceled interruptError
	}{
		"one":                {[]syscall.Signal{syscall.SIGINT}, []time.Duration{0}, 0, interruptError(syscall.SIGINT)},
		"twins":              {[]syscall.Signal{syscall.SIGTERM, syscall.SIGTERM}, []time.Duration{0, 20 * time.Millisecond}, 0, interruptError(syscall.SIGTERM)},
		"two that are meant": {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT}, []time.Duration{0, time.Second}, 1, interruptError(syscall.SIGINT)},
		"two kinds":          {[]syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, []time.Duration{0, time.Millisecond}, 1, interruptError(syscall.SIGINT)},
		"twins and a third":  {[]syscall.Signal{syscall.SIGINT, syscall.SIGINT, syscall.SIGINT}, []time.Duration{0, time.Millisecond, time.Second}, 1, interruptError(syscall.SIGINT)},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1e9, 0)
			i := interruption{now: func() time.Time { return now }}
			exits, canceled := 0, []interruptError(nil)
			i.cancel = func(e interruptError) { canceled = append(canceled, e) }
			i.exit = func(interruptError) { exits++ }
			for n, s := range c.signals {
				now = now.Add(c.gaps[n])
				i.heard(os.Signal(s))
			}
			assert.Equal(t, []interruptError{c.canceled}, canceled)
			assert.Equal(t, c.exits, exits)
		})
	}
}
