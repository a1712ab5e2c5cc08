// Package transcript collects what the processes of a test write, for a test that waits for it.
package transcript

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// patience is a watchdog for tests that went wrong.
const patience = time.Minute

// An Output is an io.Writer that keeps what is written.
type Output struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{}
}

// New returns an empty one.
func New() *Output { return &Output{changed: make(chan struct{}, 1)} }

func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	select {
	case o.changed <- struct{}{}:
	default:
	}
	return o.text.Write(p)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// Sorted returns the lines in order.
func (o *Output) Sorted() []string {
	lines := strings.Split(strings.TrimSuffix(o.String(), "\n"), "\n")
	slices.Sort(lines)
	return lines
}

// Await returns when the text has n times what is looked for. One goroutine waits at a time.
func (o *Output) Await(t testing.TB, what string, n int) {
	t.Helper()
	watchdog := time.NewTimer(patience)
	defer watchdog.Stop()
	for strings.Count(o.String(), what) < n {
		select {
		case <-o.changed:
		case <-watchdog.C:
			t.Fatalf("%q does not come %d times in %q", what, n, o)
		}
	}
}
