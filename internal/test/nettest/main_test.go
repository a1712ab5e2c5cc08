//go:build linux

package nettest_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
)

func TestMain(m *testing.M) { nettest.Main(m, map[string]nettest.Role{"wait": nettest.Wait}) }
