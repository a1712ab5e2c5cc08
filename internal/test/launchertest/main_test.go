package launchertest

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand"
	"github.com/strandmp/strand/internal/launcher/remote"
	"github.com/strandmp/strand/internal/test/need"
	"github.com/strandmp/strand/launch"
)

// roleEnv makes this test program a rank, its value being what the rank plays.
const roleEnv = "LAUNCHERTEST_ROLE"

// watchdog ends what hangs.
const watchdog = time.Minute

// strandsBuild is what this test program is, where it is strand on another host.
const strandsBuild = "test build"

func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], remote.Arguments) {
		if err := remote.Serve(context.Background(), os.Stdin, os.Stdout, remote.Introduction{Build: strandsBuild}, remote.Call{}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	role := os.Getenv(roleEnv)
	if role == "" {
		_ = flag.Set("test.parallel", "8")  // who waits for a launcher needs no processor; the flag is one of the test's own
		first, last := need.PortRange(2000) // where Hydra listens: out of reach of what others still send to theirs
		_ = os.Setenv("MPIEXEC_PORT_RANGE", fmt.Sprintf("%d:%d", first, last))
		os.Exit(finish(m.Run()))
	}
	if err := play(role); err != nil {
		fmt.Fprintln(os.Stderr, "program:", err)
		os.Exit(1)
	}
}

// play is a rank: in "exchange" it says who it is when it has talked with its neighbours; in
// the others rank 2 goes, in the way that goings has for it, when the others wait for it.
func play(role string) error {
	if role == "company" {
		return company()
	}
	return strand.Run(context.Background(), func(ctx context.Context, w *strand.World) error {
		c, buf := w.Comm(), make([]byte, 8)
		if role == "exchange" {
			next, last := (w.Rank()+1)%w.Size(), (w.Rank()+w.Size()-1)%w.Size()
			if _, err := c.Sendrecv(ctx, buf, next, 1, make([]byte, 8), last, 1); err != nil {
				return err
			}
			fmt.Printf("rank %d of %d by %s\n", w.Rank(), w.Size(), w.Launcher())
			return nil
		}
		if role == "besieged" {
			return awaitEnd(ctx, w)
		}
		if w.Rank() != 2 {
			if err := c.Ssend(ctx, buf, 2, 1); err != nil {
				return err
			}
			_, err := c.Recv(ctx, buf, 2, 1)
			return err
		}
		for range w.Size() - 1 {
			if _, err := c.Recv(ctx, buf, strand.AnySource, 1); err != nil {
				return err
			}
		}
		return goings[role](w)
	})
}

// company is a rank that says what its launcher has told it of this host.
func company() error {
	j, err := launch.FromEnvironment(context.Background())
	if err != nil {
		return err
	}
	fmt.Printf("rank %d: %d ranks here\n", j.Rank(), j.(launch.Local).LocalRanks())
	return j.Close()
}

// besieged is what rank 0 says when all ranks have met.
const besieged = "all have met"

// awaitEnd has all ranks meet, and then wait for the end of rank 0's standard input.
func awaitEnd(ctx context.Context, w *strand.World) error {
	c := w.Comm()
	for peer := range w.Size() {
		if _, err := c.Sendrecv(ctx, nil, peer, 1, nil, peer, 1); err != nil {
			return err
		}
	}
	if w.Rank() == 0 {
		fmt.Println(besieged)
		if _, err := io.Copy(io.Discard, os.Stdin); err != nil {
			return err
		}
	}
	return c.Barrier(ctx)
}

// goings are how a rank goes. Those that exit do so without a word.
var goings = map[string]func(*strand.World) error{
	"leave 7": func(*strand.World) error { os.Exit(7); return nil },
	"leave 0": func(*strand.World) error { os.Exit(0); return nil },
	"die":     func(*strand.World) error { return syscall.Kill(os.Getpid(), syscall.SIGKILL) },
	"abort 7": func(w *strand.World) error { w.Abort(7, "there is nothing to be done"); return nil },
	"give up": func(*strand.World) error { return errors.New("there is nothing to be done") },
}

// run runs a command whose ranks are this program, and returns what it says and its status. Hydra asks the system for a port and listens
// there afterwards. Another program may have come first, as those of tests beside this one: then it has started nothing, and is run again.
func run(t *testing.T, role string, env []string, name string, args ...string) (output string, status int) {
	t.Helper()
	for range 5 {
		if output, status = runOnce(t, role, env, name, args...); !strings.Contains(output, "HYDU_sock_listen") {
			break
		}
	}
	return output, status
}

func runOnce(t *testing.T, role string, env []string, name string, args ...string) (output string, status int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), watchdog)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	// The race detector has a process sleep for a second before it exits.
	cmd.Env = append(append(os.Environ(), roleEnv+"="+role, "GORACE=atexit_sleep_ms=0"), env...)
	var both bytes.Buffer
	cmd.Stdout, cmd.Stderr = &both, &both
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	require.NoError(t, ctx.Err(), "%s hangs: %s", name, &both)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		require.NoError(t, err, "%s", &both)
	}
	return both.String(), cmd.ProcessState.ExitCode()
}

// self is this program.
func self(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// allRanks are what n ranks say in the role "exchange", in order.
func allRanks(n int, launcher string) (lines []string) {
	for rank := range n {
		lines = append(lines, "rank "+strconv.Itoa(rank)+" of "+strconv.Itoa(n)+" by "+launcher)
	}
	return lines
}
