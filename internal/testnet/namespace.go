//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// A namespace is what makes a host: its network and its name.
type namespace struct {
	net, uts *os.File
}

// newNamespace makes a network without interfaces and a host name.
func newNamespace(hostname string) (*namespace, error) {
	ns := new(namespace)
	err := onThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		if err := unix.Sethostname([]byte(hostname)); err != nil {
			return fmt.Errorf("sethostname %s: %w", hostname, err)
		}
		var netErr, utsErr error
		ns.net, netErr = os.Open("/proc/thread-self/ns/net")
		ns.uts, utsErr = os.Open("/proc/thread-self/ns/uts")
		return errors.Join(netErr, utsErr)
	})
	if err != nil {
		return nil, errors.Join(err, ns.close())
	}
	return ns, nil
}

func (ns *namespace) close() error {
	var err error
	for _, f := range []*os.File{ns.net, ns.uts} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// path is where other processes find one of the files.
func path(f *os.File) string { return fmt.Sprintf("/proc/%d/fd/%d", os.Getpid(), f.Fd()) }

// place names the namespace to execOn.
func (ns *namespace) place() string { return path(ns.net) + "," + path(ns.uts) }

// run calls f on a thread of the host.
func (ns *namespace) run(f func() error) error {
	return onThread(func() error {
		if err := enter(ns.net, ns.uts); err != nil {
			return err
		}
		return f()
	})
}

// onThread calls f on a thread of its own, which f may change for good: the
// thread ends with f.
func onThread(f func() error) error {
	done := make(chan error, 1)
	go func() {
		err := errGaveUp
		defer func() { done <- err }()
		runtime.LockOSThread() // and never unlock
		err = f()
	}()
	return <-done
}

var errGaveUp = errors.New("ended its goroutine, as FailNow does, instead of returning")

// enter moves the calling thread to a host. Sysfs shows the interfaces of the
// network that it was mounted in, so there it is mounted anew, for this thread
// alone.
func enter(network, uts *os.File) error {
	if err := unix.Setns(int(network.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("setns %s: %w", network.Name(), err)
	}
	if err := unix.Setns(int(uts.Fd()), unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("setns %s: %w", uts.Name(), err)
	}
	if err := unix.Unshare(unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_SLAVE|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	err := unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
	if errors.Is(err, unix.EPERM) {
		// A container's /sys is read-only, and may not be mounted otherwise.
		err = unix.Mount("sysfs", "/sys", "sysfs", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC|unix.MS_RDONLY, "")
	}
	if err != nil {
		return fmt.Errorf("mount sysfs: %w", err)
	}
	return nil
}

// execOn turns this process into a program on a host.
func execOn(place string, args []string) error {
	runtime.LockOSThread()
	network, uts, _ := strings.Cut(place, ",")
	var files [2]*os.File
	for i, name := range []string{network, uts} {
		var err error
		if files[i], err = os.Open(name); err != nil {
			return fmt.Errorf("host %s: %w", place, err)
		}
	}
	if err := enter(files[0], files[1]); err != nil {
		return err
	}
	program, err := exec.LookPath(args[0])
	if err != nil {
		return err
	}
	pid, _, _ := strings.Cut(strings.TrimPrefix(network, "/proc/"), "/")
	number, err := strconv.Atoi(pid)
	if err != nil {
		return fmt.Errorf("host %s: %w", place, err)
	}
	test, err := owner(number)
	if err != nil {
		return fmt.Errorf("the test has ended: %w", err)
	}
	if err := os.Setenv(ownerEnv, test); err != nil {
		return err
	}
	return fmt.Errorf("%s: %w", program, unix.Exec(program, args, os.Environ()))
}
