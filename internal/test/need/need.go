// Package need is how a test says what it can not do without: a program, the
// superuser, an hour. Where it is missing the test is skipped with the reason,
// and with what to install.
//
// On a machine that claims to have everything, as the one that runs CI does
// with STRANDTEST_CI=1, a missing thing fails the test instead, so that no test is
// skipped for months unseen. Tests do not call Skip themselves; the linter
// holds that.
package need

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// complete reports whether this machine claims to have all that tests need.
func complete() bool { return os.Getenv("STRANDTEST_CI") == "1" }

// missing skips the test, or fails it where nothing may be missing.
func missing(t testing.TB, format string, args ...any) {
	t.Helper()
	if complete() {
		t.Fatalf("STRANDTEST_CI=1 says that this machine has all that tests need, but it does not: "+format, args...)
	}
	t.Skipf(format, args...)
}

// Root is for tests that change the machine: interfaces, namespaces, filters.
func Root(t testing.TB) {
	t.Helper()
	if os.Geteuid() != 0 {
		missing(t, "needs the superuser; this is user %d", os.Geteuid())
	}
}

// Users is for tests that become other users: it takes a superuser who is so not only in a
// user namespace of this user's.
func Users(t testing.TB) {
	t.Helper()
	Root(t)
	// "0 1000 1": from 0 on they are 1000 and the following outside, one in all.
	text, _ := os.ReadFile("/proc/self/uid_map") // elsewhere there is none
	if mapped := strings.Fields(string(text)); len(mapped) == 3 && mapped[2] == "1" {
		missing(t, "needs other users; this user namespace has but one")
	}
}

// Program is for tests that start a program of somebody else's. It returns the
// program's path. Package names the Debian package that has it.
func Program(t testing.TB, name, debianPackage string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err != nil {
		missing(t, "needs the program %s (on Debian: apt-get install %s): %v", name, debianPackage, err)
	}
	return path
}

// CI is for tests that take too long for every day: they run in CI alone, and there
// without the race detector, which makes them take ten times as long and finds in
// them what it finds in others too. Why says what takes so long.
func CI(t testing.TB, why string) {
	t.Helper()
	if !complete() || Race {
		t.Skipf("runs in CI (STRANDTEST_CI=1), without -race: %s", why)
	}
}

// That is for everything else: what is missing and what to do about it.
func That(t testing.TB, ok bool, format string, args ...any) {
	t.Helper()
	if !ok {
		missing(t, format, args...)
	}
}
