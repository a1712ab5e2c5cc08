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
