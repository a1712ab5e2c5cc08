package local

import (
	"testing"

	"github.com/strandmp/strand/internal/need"
)

// So does what they have started.
func TestChildrenEndWithTheLauncher(t *testing.T) {
	for range need.Times(3, 1000) {
		killLauncher(t, "launcher of shells", 6)
	}
}

// So does a rank that is in no group of the launcher's, though it does nothing but compute.
func TestRunawaysEndWithTheLauncher(t *testing.T) {
	for range need.Times(1, 300) {
		killLauncher(t, "launcher of runaways", 2)
	}
}
