//go:build linux

package failures_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	launcher "github.com/strandmp/strand/internal/launcher/job"
	"github.com/strandmp/strand/internal/test/nettest"
	"github.com/strandmp/strand/internal/test/nettest/traffic"
	"github.com/strandmp/strand/internal/test/nettest/trials"
	"github.com/strandmp/strand/internal/test/testnet"
)

// An exit is how a rank goes without closing its world. A shell above it makes a status of a
// signal.
type exit struct {
	name   string
	how    launcher.Ending
	status int
	leave  func()
}

var exits = []exit{
	{"is killed", launcher.Killed, 137, func() { _ = syscall.Kill(os.Getpid(), syscall.SIGKILL) }},
	{"exits with 3", launcher.Exited, 3, func() { os.Exit(3) }},
	{"exits with 0", launcher.Deserted, 1, func() { os.Exit(0) }},
}

// exitVariable says who goes, how, and after how many messages.
const exitVariable = "EXIT_TRIAL"

// leave has each rank exchange messages with all others, until one of them goes.
func leave(ctx context.Context, w *strand.World) error {
	var victim, way, after int
	if _, err := fmt.Sscan(os.Getenv(exitVariable), &victim, &way, &after); err != nil {
		return err
	}
	fmt.Println("pid", os.Getpid())
	c, buf := w.Comm(), make([]byte, 3000)
	me := w.Rank()
	for n := 0; ; n++ {
		if me == victim && n == after {
			fmt.Println("going")
			exits[way].leave()
		}
		shift := 1 + n%(w.Size()-1)
		to, from := (me+shift)%w.Size(), (me+w.Size()-shift)%w.Size()
		st, err := c.Sendrecv(ctx, traffic.Payload(me, n, 0, n%3000), to, n, buf, from, n)
		if err != nil {
			return err
		}
		if want := traffic.Payload(from, n, 0, n%3000); !bytes.Equal(buf[:st.Count], want) {
			return fmt.Errorf("message %d of rank %d: %d bytes are damaged: want %d", n, from, st.Count, len(want))
		}
	}
}

// Whoever goes without closing its world, however and whenever: the job ends, its rank is named and
// its status is the job's, and nobody is left.
func TestTrialsOfExits(t *testing.T) {
	trials.Trials{Short: 2 * len(exits), Beside: 3, Took: "from a rank's exit to the end of its job", Run: tryExit}.Try(t)
}

func tryExit(t *testing.T, tr *trials.Trial) {
	n, a, b := nettest.Hosts(t)
	n.Link(a, b, testnet.Subnet("10.1.0.0/24"))
	placement := []*testnet.Host{a, b, a, b, a}[:2+tr.Random.IntN(4)]
	victim, way := tr.Random.IntN(len(placement)), tr.Way(len(exits))
	job := nettest.Play("leave", placement, fmt.Sprintf("%s=%d %d %d", exitVariable, victim, way, tr.Random.IntN(200)))
	job.Timeout = time.Minute
	shell := tr.Way(2*len(exits)) >= len(exits)
	if shell {
		job.Args = append([]string{"-c", `"$0" "$@"; s=$?; exit $s`, job.Program}, job.Args...)
		job.Program = "sh"
	}
	r := tr.Start(t, job)
	went := r.Await(victim, "going").At
	err := r.Wait()
	tr.Done(time.Since(went))
	var failure *launcher.RankError
	require.ErrorAs(t, err, &failure)
	require.Equal(t, victim, failure.Rank, "which %s: %v", exits[way].name, failure)
	require.Equal(t, exits[way].status, failure.ExitStatus(), "of a rank that %s: %v", exits[way].name, failure)
	if !shell {
		require.Equal(t, exits[way].how, failure.How, "%v", failure)
	}
	requireNobodyLeft(t, r, len(placement))
}

// requireNobodyLeft expects that all ranks, who have told their pids, are gone.
func requireNobodyLeft(t *testing.T, r *nettest.Run, ranks int) {
	t.Helper()
	for rank := range ranks {
		for _, line := range r.Lines(rank) {
			var pid int
			if n, _ := fmt.Sscanf(line.Text, "pid %d", &pid); n == 1 {
				require.Eventually(t, func() bool { return ended(pid) }, time.Minute, time.Millisecond, "rank %d, pid %d, lives", rank, pid)
			}
		}
	}
}

// ended says whether a process is gone, or is a zombie for which no init has waited yet.
func ended(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return err != nil || bytes.Contains(stat, []byte(") Z"))
}
