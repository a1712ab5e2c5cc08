//go:build linux

package failures_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
)

func TestMain(m *testing.M) {
	nettest.Main(m, map[string]nettest.Role{"depend": depend, "leave": leave, "part": part, "wait": nettest.Wait})
}
