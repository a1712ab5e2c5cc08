//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/netspace"
)

// Arguments and variables by which the test binary starts itself.
const (
	inUserEnv    = "TESTNET_IN_USER_NAMESPACE"
	networkFirst = "not known: TestMain must call testnet.Main" // until it has
)

// unavailable is why no network can be built, or "".
var unavailable = networkFirst

// Main is the TestMain of a package whose tests use networks. It does not
// return.
func Main(m *testing.M) {
	netspace.Start()
	endOrphans()
	err := probe()
	if errors.Is(err, unix.EPERM) && os.Getenv(inUserEnv) == "" {
		status, inner := runInUserNamespace()
		if inner == nil {
			os.Exit(status)
		}
		err = fmt.Errorf("%w; in a user namespace: %w", err, inner)
	}
	unavailable = ""
	if err != nil {
		unavailable = err.Error()
	}
	os.Exit(m.Run())
}

// probe tries to make a namespace.
func probe() error {
	ns, err := netspace.New("probe")
	if err != nil {
		return err
	}
	return ns.Close()
}

// runInUserNamespace runs this test binary once more as the superuser of a
// user namespace and returns its exit status.
func runInUserNamespace() (status int, err error) {
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), inUserEnv+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}},
		Pdeathsig:   unix.SIGKILL,
	}
	// Pdeathsig is about the thread that starts the process.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	if status := cmd.ProcessState.ExitCode(); status >= 0 {
		return status, nil
	}
	return 1, nil // killed by a signal
}
