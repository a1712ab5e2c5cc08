package need

import "os"

// Soaking reports whether tests are to run in their long forms: make soak, or
// STRANDTEST_SOAK=1.
func Soaking() bool { return os.Getenv("STRANDTEST_SOAK") == "1" }

// Times is for tests that try something many times over: it returns the number
// of trials for a short run or for a soak.
func Times(short, soak int) int {
	if Soaking() {
		return soak
	}
	return short
}
