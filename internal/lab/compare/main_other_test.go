//go:build !linux

package compare

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	playElsewhere()
	playMember()
	os.Exit(m.Run())
}
