package need

import (
	"os"
	"testing"
)

// Soaking reports whether tests are to run in their long forms: make soak, or
// STRANDTEST_SOAK=1.
func Soaking() bool { return os.Getenv("STRANDTEST_SOAK") == "1" }

// Soak is for tests that have no short form. Outside a soak they are skipped,
// in CI too.
func Soak(t testing.TB) {
	t.Helper()
	if !Soaking() {
		t.Skip("has only a long form; STRANDTEST_SOAK=1 or make soak runs it")
	}
}

// Times is for tests that try something many times over: it returns the number
// of trials for a short run or for a soak.
func Times(short, soak int) int {
	if Soaking() {
		return soak
	}
	return short
}
