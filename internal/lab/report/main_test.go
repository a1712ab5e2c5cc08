package report_test

import (
	"flag"
	"os"
	"testing"

	"github.com/strandmp/strand/internal/test/need"
)

// TestMain has the short form draw the same reports every time: what the drawing library does
// with numbers that nobody has seen yet is for the long form to find.
func TestMain(m *testing.M) {
	if !need.Soaking() {
		if err := flag.Set("rapid.seed", "1"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}
