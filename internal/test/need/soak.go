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

// Thorough reports whether tests are to try all that they can: in CI, and in their long forms.
func Thorough() bool { return complete() || Soaking() }

// Daily is for tests of which a small form says enough from day to day: it returns how often
// something is tried then, and how often where all is tried.
func Daily(few, all int) int {
	if Thorough() {
		return all
	}
	return few
}
