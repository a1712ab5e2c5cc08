//go:build race

package broken_test

// raceFinds reports whether the race detector itself finds what is broken, and fails the test for it.
func raceFinds(fault string) bool {
	return fault == "reads without the lock into memory that it has not pinned"
}
