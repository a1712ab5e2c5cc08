//go:build linux

package trials

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestMain(m *testing.M) { nettest.Main(m, nil) }

// Hangs, wrong bytes and wrong words are told apart by what a job has come to.
func TestFaultsAreToldApart(t *testing.T) {
	_, a, _ := nettest.Hosts(t)
	for _, c := range []struct {
		script  string
		timeout time.Duration
		want    fault
	}{
		{"sleep 300", 1, hang},
		{"echo '4 bytes are damaged'; sleep 300", 300 * time.Millisecond, hang},
		{"echo 'round 3: message 7 of 12 bytes is damaged' >&2; exit 1", 0, wrongBytes},
		{"echo 'rank 1 on b has failed: no sign of life' >&2; exit 1", 0, wrongWord},
		{"exit 0", 0, wrongWord},
	} {
		tr := &Trial{}
		_ = tr.Start(t, nettest.Job{Placement: []*testnet.Host{a}, Program: "sh", Args: []string{"-c", c.script}, Timeout: c.timeout}).Wait()
		require.Equal(t, c.want, tr.fault(), c.script)
	}
	sums := tally{name: "TestTrialsOfX", took: "nothing"}
	sums.passed(&Trial{took: []time.Duration{3 * time.Second, time.Second}}, 2)
	sums.failed(&Trial{hung: true}, 2)
	require.Regexp(t, `TestTrialsOfX +4 +1 +0 +0 +3s +3s +nothing`, sums.String())
}
