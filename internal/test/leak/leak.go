// Package leak tells a test what it has left behind: goroutines and file
// descriptors.
package leak

import (
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// patience bounds how long goroutines and descriptors may take to go away once
// the test is over. It is a watchdog: what goes is not waited for any longer.
const patience = 10 * time.Second

// Check fails the test if, at its end, goroutines run or descriptors are open
// that were not there when Check was called. Call it first, so that all that the
// test cleans up is cleaned up before it looks. It looks at the whole process:
// tests that use it do not run in parallel with others.
func Check(t testing.TB) {
	t.Helper()
	check(t, patience)
}

func check(t testing.TB, patience time.Duration) {
	t.Helper()
	startNetpoller(t)
	running := goleak.IgnoreCurrent()
	before := descriptors(t)
	t.Cleanup(func() {
		t.Helper()
		deadline := time.Now().Add(patience)
		// goleak looks again and again, at growing distances, before it complains.
		err := goleak.Find(running)
		for err != nil && time.Now().Before(deadline) {
			err = goleak.Find(running)
		}
		if err != nil {
			t.Errorf("goroutines left behind: %v", err)
		}
		for _, fd := range leftOpen(t, before, deadline) {
			t.Errorf("descriptor left open: %s", fd)
		}
	})
}

// startNetpoller makes Go's poller open its own descriptors, which stay open for
// good and would otherwise be blamed on the first test that uses a file.
func startNetpoller(t testing.TB) {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatalf("making a pipe: %v", err)
	}
	r.Close()
	w.Close()
}
