//go:build linux

package contact_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
)

func TestMain(m *testing.M) {
	nettest.Main(m, map[string]nettest.Role{"contact": contact, "late": late, "ring": nettest.Ring, "traffic": traffic.Role, "wait": nettest.Wait, "weigh": weigh})
}
