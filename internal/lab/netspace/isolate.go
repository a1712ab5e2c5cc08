//go:build linux

package netspace

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
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
// passes SIGINT, SIGTERM, SIGHUP and SIGQUIT on, unless this process ignores them. At SIGTSTP it stops the program and all
// that has been started there, and then calls suspend, which stops this process; when that returns all go on. An error says
// why the program could not be started: it is an *UnavailableError where this user may not have
// namespaces.
func Isolate(suspend func()) (status int, err error) {
	const own = unix.CLONE_NEWNET | unix.CLONE_NEWPID | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC
	status, err = again(own, suspend)
	if errors.Is(err, unix.EPERM) {
		status, err = again(own|unix.CLONE_NEWUSER, suspend)
	}
	return status, explainAgain(err)
}

// IsolateUser is Isolate for users other than the superuser. The program gets a user and a
// network namespace and stays among the same processes: what it starts does not end with it, nor stop.
func IsolateUser() (status int, err error) {
	status, err = again(unix.CLONE_NEWNET|unix.CLONE_NEWUSER, nil)
	return status, explainAgain(err)
}

func explainAgain(err error) error {
	if errors.Is(err, unix.EINVAL) {
		return &UnavailableError{Cause: err, Reasons: []string{"this kernel was built without user or network namespaces (CONFIG_USER_NS, CONFIG_NET_NS)"}}
	}
	return Explain(err)
}

// again runs this program once more in new namespaces.
func again(namespaces uintptr, suspend func()) (status int, err error) {
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
	stops := make(chan os.Signal, 1)
	if suspend != nil && !signal.Ignored(unix.SIGTSTP) {
		signal.Notify(stops, unix.SIGTSTP)
		defer signal.Stop(stops)
	}
	err = cmd.Start()
	_ = alive.Close()
	if err != nil {
		return 0, err
	}
	over := make(chan struct{})
	defer close(over)
	var passed atomic.Int32
	go func() {
		for {
			select {
			case s := <-signals:
				number, _ := s.(syscall.Signal)
				passed.Store(int32(number))
				_ = cmd.Process.Signal(s) // it fails if the process has ended
			case <-stops:
				stopped := freeze(cmd.Process.Pid)
				suspend()
				for _, pid := range stopped {
					_ = unix.Kill(pid, unix.SIGCONT) // or it has ended
				}
			case <-over:
				return
			}
		}
	}()
	var exit *exec.ExitError
	if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
		return 0, err
	}
	return exitStatus(cmd.ProcessState, syscall.Signal(passed.Load())), nil
}

// freeze stops a process and all that descends from it, and returns who is to go on. Each is stopped before its children are
// looked for, so that no new ones come. Who was stopped before is left alone.
func freeze(pid int) (stopped []int) {
	if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)); err != nil || !bytes.Contains(stat, []byte(") T ")) {
		_ = unix.Kill(pid, unix.SIGSTOP) // or it has ended
		stopped = append(stopped, pid)
	}
	lists, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid)) // its error is of the pattern
	for _, list := range lists {
		children, _ := os.ReadFile(list) // none if the thread has ended
		for child := range strings.FieldsSeq(string(children)) {
			if number, err := strconv.Atoi(child); err == nil {
				stopped = append(stopped, freeze(number)...)
			}
		}
	}
	return stopped
}

// ofRuntime is with what Go's runtime ends a process that a signal is to end and can not: no signal ends the first process of a
// namespace from within. So it is there until the command handles signals.
const ofRuntime = 2

// exitStatus is that of the program; passed is the last signal that was passed on to it, or 0.
func exitStatus(s *os.ProcessState, passed syscall.Signal) int {
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		return 128 + int(w.Signal())
	}
	if passed != 0 && s.ExitCode() == ofRuntime {
		return 128 + int(passed)
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
