//go:build linux

package nettest_test

import (
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/testnet"
)

func TestRanksRunWhereTheyArePlaced(t *testing.T) {
	_, a, b := nettest.Hosts(t)
	r := nettest.Job{
		Placement: []*testnet.Host{b, a, b}, KeepGoing: true, Env: []string{"WORD=here"},
		Program: "sh", Args: []string{"-c", `echo "$WORD $1 $PMI_RANK $(uname -n) $MPI_LOCALRANKID $MPI_LOCALNRANKS"; printf end >&2; exit $PMI_RANK`, "sh", "'an argument'"},
	}.Run(t)
	require.ErrorContains(t, r.Wait(), "exited with status")
	for rank, want := range []struct{ line, status string }{
		{"here 'an argument' 0 b 0 2", "exited with status 0"},
		{"here 'an argument' 1 a 0 1", "exited with status 1"},
		{"here 'an argument' 2 b 1 2", "exited with status 2"},
	} {
		assert.Equal(t, want.status, r.Status(rank))
		assert.False(t, r.Await(rank, want.line).Stderr)
		assert.True(t, r.Await(rank, "end").Stderr)
		assert.Len(t, r.Lines(rank), 2)
	}
}

// Who waits for a rank on another host that is killed learns which it was.
func TestRankIsKilledOnAnotherHost(t *testing.T) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	job := nettest.Play("wait", []*testnet.Host{a, b})
	job.KeepGoing = true
	r := job.Start(t)
	r.Await(0, "waiting")
	r.Await(1, "waiting")
	r.Signal(1, syscall.SIGKILL)
	require.Error(t, r.Wait())
	assert.Equal(t, "ended by SIGKILL", r.Status(1))
	assert.Contains(t, r.Await(0, "waited: ").Text, "rank 1 on b has failed")
}

func TestJobThatHangs(t *testing.T) {
	_, a, _ := nettest.Hosts(t)
	job := nettest.Job{Placement: []*testnet.Host{a}, Program: "sleep", Args: []string{"300"}, Timeout: 1}
	require.ErrorContains(t, job.Run(t).Wait(), "was not over within")
}
