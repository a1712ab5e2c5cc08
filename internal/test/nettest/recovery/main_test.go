//go:build linux

package recovery_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
)

func TestMain(m *testing.M) {
	nettest.Main(m, map[string]nettest.Role{"broken": brokenFlow, "flow": flow, "long": oneLong, "steady": steady, "traffic": traffic.Role})
}
