//go:build linux

package situations_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
)

func TestMain(m *testing.M) {
	nettest.Main(m, map[string]nettest.Role{"ring": nettest.Ring, "strapped": strapped}, forbid, handicap)
}
