//go:build linux

package netspace

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// isolatedEnv names, to the process that Isolate or IsolateUser starts, the descriptor that tells
// it that its parent is alive.
const isolatedEnv = "STRAND_ISOLATED"

// isolated is set in a process that they have started.
var isolated bool

// Isolated tells whether this process was started by [Isolate] or [IsolateUser].
func Isolated() bool { return isolated }

// Isolate runs this program once more in namespaces of its own, with the same arguments,
// environment and streams, and returns its exit status: 128 + n if signal n has ended it. It
// passes SIGINT, SIGTERM, SIGHUP and SIGQUIT on, unless this process ignores them. An error says
// why the program could not be started: it is an *UnavailableError where this user may not have
// namespaces.
func Isolate() (status int, err error) {
	const own = unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC
	status, err = again(own)
	if errors.Is(err, unix.EPERM) {
		status, err = again(own | unix.CLONE_NEWUSER)
	}
	return status, explainAgain(err)
}

// IsolateUser is Isolate for users other than the superuser. The program gets a user and a
// network namespace and stays among the same processes: what it starts does not end with it.
func IsolateUser() (status int, err error) {
	status, err = again(unix.CLONE_NEWNET | unix.CLONE_NEWUSER)
	return status, explainAgain(err)
}

func explainAgain(err error) error {
	if errors.Is(err, unix.EINVAL) {
		return &UnavailableError{Cause: err, Reasons: []string{"this kernel was built without user or network namespaces (CONFIG_USER_NS, CONFIG_NET_NS)"}}
	}
	return Explain(err)
}

// again runs this program once more in new namespaces.
func again(namespaces uintptr) (status int, err error) {
	alive, lifeline, err := os.Pipe()
	if err != nil {
		return 0, err
	}
	defer lifeline.Close() // after the process has ended
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), isolatedEnv+"=3") // the first of ExtraFiles
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: namespaces,
		Setpgid:    true, // a terminal's signals come once, by us
		Pdeathsig:  unix.SIGKILL,
	}
	if namespaces&unix.CLONE_NEWUSER != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	runtime.LockOSThread() // Pdeathsig is about the thread that starts the process
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 8)
	for _, s := range []os.Signal{unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT} {
		if !signal.Ignored(s) { // nohup has SIGHUP ignored
			signal.Notify(signals, s)
		}
	}
	defer signal.Stop(signals)
	err = cmd.Start()
	_ = alive.Close()
	if err != nil {
		return 0, err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // it fails if the process has ended
			case <-over:
				return
			}
		}
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState), nil
}

func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// arrive comes first in a process that Isolate has started. The process ends with its parent. The
// kernel sees to that, but not if the parent ended before it could ask the kernel for it. So
// arrive also watches a pipe whose other end the parent holds.
func arrive() {
	text := os.Getenv(isolatedEnv)
	if text == "" {
		return
	}
	_ = os.Unsetenv(isolatedEnv)
	fd, err := strconv.Atoi(text)
	if err != nil || fd < 3 {
		fmt.Fprintf(os.Stderr, "%s=%q: it is set by this program for itself; unset it\n", isolatedEnv, text)
		os.Exit(2)
	}
	unix.CloseOnExec(fd)
	isolated = true
	lifeline := os.NewFile(uintptr(fd), "lifeline")
	go func() {
		_, _ = io.Copy(io.Discard, lifeline)
		os.Exit(128 + int(unix.SIGKILL))
	}()
}
