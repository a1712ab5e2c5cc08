//go:build linux

package netspace_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/test/need"
)

// roleEnv makes the test binary play a part in a test.
const roleEnv = "NETSPACE_TEST_ROLE"

// watchdog ends what hangs.
const watchdog = time.Minute

func TestMain(m *testing.M) {
	netspace.Start()
	if role := os.Getenv(roleEnv); role != "" {
		os.Exit(play(role))
	}
	os.Exit(m.Run())
}

// play isolates itself, or is what has been isolated.
func play(role string) int {
	if !netspace.Isolated() {
		if limit, ok := strings.CutPrefix(role, "without "); ok {
			if err := os.WriteFile("/proc/sys/user/"+limit, []byte("0"), 0o644); err != nil {
				return fail(err)
			}
			role = "stranger"
		}
		if role == "stranger" {
			if err := becomeNobody(); err != nil {
				return fail(err)
			}
		}
		status, err := netspace.Isolate(nil)
		if err != nil {
			return fail(err)
		}
		return status
	}
	switch role {
	case "exit 7":
		return 7
	case "die":
		_ = unix.Kill(os.Getpid(), unix.SIGKILL) // in vain: it is the first process
		fmt.Println("pid", os.Getpid())
		return 0
	case "wait for SIGTERM":
		c := make(chan os.Signal, 1)
		signal.Notify(c, unix.SIGTERM)
		fmt.Println("ready")
		<-c
		return 3
	case "handle no signal":
		fmt.Println("ready")
		select {}
	case "leave things behind":
		s, err := netspace.New("left")
		if err != nil {
			return fail(err)
		}
		cmd := s.Command("sh", "-c", "(trap '' HUP TERM; sleep 300 & echo; wait) & wait")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stdout = os.Stdout
		if err := cmd.Start(); err != nil {
			return fail(err)
		}
		select {}
	}
	if err := useNetwork(); err != nil {
		return fail(err)
	}
	return 0
}

// useNetwork makes a host and does on it what needs rights.
func useNetwork() error {
	s, err := netspace.New("a-host")
	if err != nil {
		return err
	}
	defer func() { _ = s.Close() }()
	out, err := s.Command("sh", "-c", "uname -n; ls /sys/class/net; echo $PPID; echo $$").CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	if want := "a-host lo 1"; !strings.HasPrefix(strings.Join(strings.Fields(string(out)), " "), want) {
		return fmt.Errorf("on the host: %q, want %q and a number", out, want)
	}
	return errors.Join(s.RaiseLoopback(), s.Sysctl("net/ipv4/ip_forward", "1"))
}

// becomeNobody gives up the superuser.
func becomeNobody() error {
	const nobody = 65534
	return errors.Join(syscall.Setgroups(nil), syscall.Setgid(nobody), syscall.Setuid(nobody),
		unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0)) // as after starting a program
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, err)
	return 99
}

// player returns a process that plays a part.
func player(role string) *netspace.Cmd {
	cmd := netspace.Bind(exec.Command("/proc/self/exe"))
	cmd.Env = append(os.Environ(), roleEnv+"="+role)
	return cmd
}

// perform runs a part to its end.
func perform(role string) (out string, status int) {
	cmd := player(role)
	text, _ := cmd.CombinedOutput() // the status tells
	return string(text), cmd.ProcessState.ExitCode()
}

// requireIsolation skips the test where there is none.
func requireIsolation(t *testing.T) {
	t.Helper()
	out, status := perform("network")
	need.That(t, status == 0, "needs namespaces: %s", out)
}

func requireStatus(t *testing.T, want int, role string) string {
	t.Helper()
	out, status := perform(role)
	require.Equal(t, want, status, "%s: %s", role, out)
	return out
}
