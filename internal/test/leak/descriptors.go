package leak

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"
	"time"
)

// between is the time from one look at the open descriptors to the next.
const between = 10 * time.Millisecond

// descriptors lists the descriptors of this process, each with what it stands
// for, as far as the system says: "7 (socket:[4711])". A number that was closed
// and opened again for something else is thus another one.
func descriptors(t testing.TB) []string {
	t.Helper()
	dir := "/proc/self/fd"
	if runtime.GOOS != "linux" {
		dir = "/dev/fd"
	}
	f, err := os.Open(dir)
	if err != nil {
		t.Fatalf("listing open descriptors: %v", err)
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		t.Fatalf("listing open descriptors: %v", err)
	}
	own := fmt.Sprint(f.Fd())
	var open []string
	for _, name := range names {
		if name == own {
			continue
		}
		target, err := os.Readlink(filepath.Join(dir, name))
		if err != nil {
			target = "unknown"
		}
		open = append(open, fmt.Sprintf("%s (%s)", name, target))
	}
	return open
}

// leftOpen returns the descriptors that are open and were not before. It looks
// until there is none or the deadline has passed: who closes a descriptor may be
// a goroutine that has only just been told to.
func leftOpen(t testing.TB, before []string, deadline time.Time) []string {
	t.Helper()
	tick := time.NewTicker(between)
	defer tick.Stop()
	for {
		left := slices.DeleteFunc(descriptors(t), func(fd string) bool { return slices.Contains(before, fd) })
		if len(left) == 0 || time.Now().After(deadline) {
			return left
		}
		<-tick.C
	}
}
