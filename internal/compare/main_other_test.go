//go:build !linux

package compare

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	playMember()
	os.Exit(m.Run())
}
