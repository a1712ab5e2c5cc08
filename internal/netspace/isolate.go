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

// isolatedEnv names, to the process that Isolate starts, the descriptor that tells
// it that its parent is alive.
const isolatedEnv = "STRAND_ISOLATED"

// isolated is set in a process that Isolate has started.
var isolated bool

// Isolated tells whether this process was started by [Isolate].
func Isolated() bool { return isolated }

// Isolate runs this program once more, with the same arguments, environment and
// streams, in namespaces of its own, and returns its exit status: 128 + n if a
// signal n has ended it. SIGINT, SIGTERM, SIGHUP and SIGQUIT are passed on to it. An
// error means that it could not be started, and why: an *UnavailableError where
// this user may not have namespaces.
func Isolate() (status int, err error) {
	err = isolate(0, &status)
	if errors.Is(err, unix.EPERM) {
		err = isolate(unix.CLONE_NEWUSER, &status)
	}
	if errors.Is(err, unix.EINVAL) {
		return 0, &UnavailableError{Cause: err, Reasons: []string{"this kernel was built without user or network namespaces (CONFIG_USER_NS, CONFIG_NET_NS)"}}
	}
	if err != nil {
		return 0, Explain(err)
	}
	return status, nil
}

func isolate(user uintptr, status *int) error {
	alive, lifeline, err := os.Pipe()
	if err != nil {
		return err
	}
	defer lifeline.Close() // after the process has ended
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), isolatedEnv+"=3") // the first of ExtraFiles
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{alive}
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC | user,
		Setpgid:    true, // a terminal's signals come once, by us
		Pdeathsig:  unix.SIGKILL,
	}
	if user != 0 {
		cmd.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		cmd.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	runtime.LockOSThread() // Pdeathsig is about the thread that starts the process
	defer runtime.UnlockOSThread()
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, unix.SIGINT, unix.SIGTERM, unix.SIGHUP, unix.SIGQUIT)
	defer signal.Stop(signals)
	err = cmd.Start()
	_ = alive.Close()
	if err != nil {
		return err
	}
	over := make(chan struct{})
	defer close(over)
	go func() {
		for {
			select {
			case s := <-signals:
				_ = cmd.Process.Signal(s) // or it has ended
			case <-over:
				return
			}
		}
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return err
	}
	*status = exitStatus(cmd.ProcessState)
	return nil
}

func exitStatus(s *os.ProcessState) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	return s.ExitCode()
}

// arrive is the first thing that a process does that Isolate has started. It ends
// with its parent: the kernel sees to that, but not if the parent ended before it
// could be told.
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
