//go:build linux

package rates_test

import (
	"testing"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
)

func TestMain(m *testing.M) {
	nettest.Main(m, map[string]nettest.Role{"everyone": everyone, "peers": peers, "stream": stream, "flowing": flowing, "traffic": traffic.Role, "urgent": urgent, "bulky": bulky, "overlapping": overlapping, "talkers": talkers})
}
