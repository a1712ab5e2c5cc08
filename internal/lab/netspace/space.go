//go:build linux

package netspace

import (
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// A Space is what makes a host: its network and its name.
type Space struct {
	net, uts *os.File
}

// New makes a network without interfaces but lo, which is down, and a host name.
func New(hostname string) (*Space, error) {
	s := new(Space)
	err := OnThread(func() error {
		if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS); err != nil {
			return fmt.Errorf("unshare: %w", err)
		}
		if err := unix.Sethostname([]byte(hostname)); err != nil {
			return fmt.Errorf("sethostname %s: %w", hostname, err)
		}
		var netErr, utsErr error
		s.net, netErr = os.Open("/proc/thread-self/ns/net")
		s.uts, utsErr = os.Open("/proc/thread-self/ns/uts")
		return errors.Join(netErr, utsErr)
	})
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Close gives up this process's hold.
func (s *Space) Close() error {
	var err error
	for _, f := range []*os.File{s.net, s.uts} {
		if f != nil {
			err = errors.Join(err, f.Close())
		}
	}
	return err
}

// Net is the descriptor that holds the network. It is the Space's.
func (s *Space) Net() *os.File { return s.net }

// Path is a file that stands for the network, as nsenter --net= wants it, while
// this process holds it.
func (s *Space) Path() string { return path(s.net) }

// Netlink returns a way to configure the network. The caller closes it.
func (s *Space) Netlink() (h *netlink.Handle, err error) {
	// NewHandleAt would look for this process in /proc, where it may have another number.
	err = s.Quick(func() error {
		// Only routes: not every kernel has the other families, such as XFRM.
		h, err = netlink.NewHandle(unix.NETLINK_ROUTE)
		return err
	})
	return h, err
}

// Sysctl sets one of the network's kernel variables: "net/ipv4/tcp_rmem".
func (s *Space) Sysctl(name, value string) error {
	return s.Quick(func() error { return os.WriteFile("/proc/sys/"+name, []byte(value), 0o644) })
}

// Do calls f on a thread that is on the host, with its network, its name and its
// /sys. Goroutines that f starts are not, but sockets that f makes stay there.
func (s *Space) Do(f func() error) error {
	return OnThread(func() error {
		if err := enter(s.net, s.uts); err != nil {
			return err
		}
		return f()
	})
}

// Quick is Do for what needs the network alone.
func (s *Space) Quick(f func() error) error {
	return OnThread(func() error {
		if err := unix.Setns(int(s.net.Fd()), unix.CLONE_NEWNET); err != nil {
			return fmt.Errorf("setns %s: %w", s.net.Name(), err)
		}
		return f()
	})
}

// OnThread calls f on a thread of its own, which f may change for good: the
// thread ends with f.
func OnThread(f func() error) error {
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

// enter moves the calling thread to a host. Sysfs shows the interfaces of the network that it was
// mounted in. So it is mounted anew, for this thread alone.
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
	return mountSysfs()
}

// mountSysfs mounts a /sys that shows the thread's network. In a container it is read-only, and
// may be mounted in no other way. Where a part of it is covered too, it may not be mounted at
// all. Then an empty /sys is better than one that shows another network's interfaces.
func mountSysfs() error {
	const flags = unix.MS_NOSUID | unix.MS_NODEV | unix.MS_NOEXEC
	err := unix.Mount("sysfs", "/sys", "sysfs", flags, "")
	if errors.Is(err, unix.EPERM) {
		err = unix.Mount("sysfs", "/sys", "sysfs", flags|unix.MS_RDONLY, "")
	}
	if errors.Is(err, unix.EPERM) {
		err = unix.Mount("tmpfs", "/sys", "tmpfs", flags|unix.MS_RDONLY, "")
	}
	if err != nil {
		return fmt.Errorf("mount sysfs: %w", err)
	}
	return nil
}
