package members_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/pmi"
	"github.com/strandmp/strand/internal/test/world"
)

// programVariable tells a process that it is a rank of a test, and what to run.
const programVariable = "TEST_RANK_PROGRAM"

// rankPrograms are the programs of tests whose ranks are processes of their own.
var rankPrograms = map[string]func(ctx context.Context, w *strand.World) error{}

func TestMain(m *testing.M) {
	if name := os.Getenv(programVariable); name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), world.Watchdog)
		defer cancel()
		if err := runProgram(ctx, name); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	// Those that may run beside others wait: more of them do than there are processors, unless
	// -parallel says otherwise.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func runProgram(ctx context.Context, name string) error {
	w, err := strand.Init(ctx)
	if err != nil {
		return err
	}
	if err := rankPrograms[name](ctx, w); err != nil {
		return fmt.Errorf("rank %d: %w", w.Rank(), err)
	}
	return w.Close()
}

// runProcesses runs a program on n ranks, each a process. Those in killed end by
// SIGKILL, which nothing else learns of but by its connections; all others have
// to end well.
func runProcesses(t *testing.T, program string, n int, killed ...int) {
	t.Helper()
	runWithParams(t, program, n, nil, killed...)
}

// runWithParams is runProcesses with parameters, as the environment gives them:
// "STRAND_PML_LANES=1".
func runWithParams(t *testing.T, program string, n int, params []string, killed ...int) {
	t.Helper()
	server, err := pmi.NewServer("test", n, noEvents{})
	require.NoError(t, err)
	defer server.Close()
	ctx := world.Context(t)
	ranks, output := make([]*exec.Cmd, n), make([]bytes.Buffer, n)
	for i := range n {
		ranks[i] = exec.CommandContext(ctx, os.Args[0])
		ranks[i].Env = append(os.Environ(), params...)
		ranks[i].Stderr = &output[i]
		startRank(t, server, ranks[i], program, i, n)
	}
	errs := make([]error, n)
	for i, rank := range ranks {
		errs[i] = rank.Wait()
	}
	var said strings.Builder // of all, since what one says is often the fault of another
	for i := range output {
		fmt.Fprintf(&said, "rank %d: %v\n%s", i, errs[i], &output[i])
	}
	for i, rank := range ranks {
		status, _ := rank.ProcessState.Sys().(syscall.WaitStatus)
		wasKilled := status.Signaled() && status.Signal() == syscall.SIGKILL && ctx.Err() == nil
		if slices.Contains(killed, i) {
			require.True(t, wasKilled, "rank %d\n%s", i, &said)
			continue
		}
		require.NoError(t, errs[i], "rank %d\n%s", i, &said)
		if output[i].Len() > 0 {
			t.Logf("rank %d: %s", i, &output[i])
		}
	}
}

func startRank(t *testing.T, server *pmi.Server, cmd *exec.Cmd, program string, rank, size int) {
	t.Helper()
	fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	require.NoError(t, err)
	syscall.CloseOnExec(fds[0])
	ours, theirs := os.NewFile(uintptr(fds[0]), "launcher"), os.NewFile(uintptr(fds[1]), "rank")
	conn, err := net.FileConn(ours)
	require.NoError(t, err)
	ours.Close()
	cmd.Env = append(cmd.Env, programVariable+"="+program,
		"PMI_FD=3", "PMI_RANK="+strconv.Itoa(rank), "PMI_SIZE="+strconv.Itoa(size))
	cmd.ExtraFiles = []*os.File{theirs}
	require.NoError(t, cmd.Start())
	theirs.Close()
	go func() { _ = server.Serve(rank, conn) }()
}

type noEvents struct{}

func (noEvents) Initialised(int)        {}
func (noEvents) Finalised(int)          {}
func (noEvents) Aborted(int, pmi.Abort) {}
