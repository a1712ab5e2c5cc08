//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"sync"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"

	"github.com/strandmp/strand/internal/lab/netspace"
)

// A Host has a network stack and a name of its own, and shares all else with
// the machine.
type Host struct {
	net    *Net
	name   string
	ns     *netspace.Space
	kernel *netlink.Handle
	nics   []*NIC

	mu     sync.Mutex
	routes []*netlink.Route // through a gateway, in the order they were added
	filter filter
}

// Host adds a host with a loopback interface that is up.
func (n *Net) Host(name string) *Host {
	n.t.Helper()
	h, err := newHost(n, name)
	n.must(err)
	n.hosts = append(n.hosts, h)
	return h
}

func newHost(n *Net, name string) (*Host, error) {
	ns, err := netspace.New(name)
	if err != nil {
		return nil, fmt.Errorf("host %s: %w", name, err)
	}
	h := &Host{net: n, name: name, ns: ns}
	h.kernel, err = ns.Netlink()
	if err == nil {
		err = h.prepare()
	}
	if err != nil {
		if h.kernel != nil {
			h.kernel.Close()
		}
		return nil, errors.Join(fmt.Errorf("host %s: %w", name, err), ns.Close())
	}
	return h, nil
}

// prepare sets up what all hosts have in common. IPv6 addresses count at once,
// without a second of looking for duplicates, and survive their interface's
// being down, as IPv4 addresses do.
func (h *Host) prepare() error {
	for _, name := range []string{"default", "all"} {
		for key, value := range map[string]string{"accept_dad": "0", "dad_transmits": "0", "keep_addr_on_down": "1"} {
			if err := h.sysctl("net/ipv6/conf/"+name+"/"+key, value); err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return h.ns.RaiseLoopback()
}

// Name is also what os.Hostname returns on the host.
func (h *Host) Name() string { return h.name }

// NICs returns the interfaces that the test has added, in that order.
func (h *Host) NICs() []*NIC { return h.nics }

// Namespace returns the path of a file that stands for the host's network, as
// nsenter --net= wants it, while the test runs.
func (h *Host) Namespace() string { return h.ns.Path() }

// Do calls f on a thread that is on the host. Goroutines that f starts are not,
// but sockets that f makes stay there. f may not call FailNow.
func (h *Host) Do(f func() error) error { return h.ns.Do(f) }

// Command returns a command that runs on the host. It has a process group of
// its own and ends with the test.
func (h *Host) Command(program string, args ...string) *netspace.Cmd {
	argv := append(h.Prefix(), program)
	return netspace.Bind(exec.Command(argv[0], append(argv[1:], args...)...))
}

// Prefix returns what to put before a command line so that it runs on the
// host: for commands that somebody else starts. The process stays the same one.
func (h *Host) Prefix() []string {
	return h.ns.Prefix(ownerEnv + "=" + thisProcess())
}

// Route sends what is for a network through a gateway. It is there again when
// its interface comes up again.
func (h *Host) Route(network string, gateway netip.Addr) {
	h.net.t.Helper()
	dst, err := netip.ParsePrefix(network)
	h.net.must(err)
	r := &netlink.Route{Dst: ipNet(dst), Gw: gateway.AsSlice()}
	if err := h.kernel.RouteAdd(r); err != nil {
		h.net.must(fmt.Errorf("host %s: route to %s via %s: %w", h.name, dst, gateway, err))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.routes = append(h.routes, r)
}

// reroute adds routes that went with an interface. Those of other interfaces
// are still there, those of one that is down have to wait.
func (h *Host) reroute() error {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.routes {
		err := h.kernel.RouteReplace(r)
		if err != nil && !errors.Is(err, unix.ENETUNREACH) && !errors.Is(err, unix.EHOSTUNREACH) && !errors.Is(err, unix.ENETDOWN) {
			return fmt.Errorf("host %s: route %v: %w", h.name, r, err)
		}
	}
	return nil
}

// Forward makes a router of the host.
func (h *Host) Forward() {
	h.net.t.Helper()
	h.net.must(h.sysctl("net/ipv4/ip_forward", "1"))
	h.net.must(h.sysctl("net/ipv6/conf/all/forwarding", "1"))
}

// Sysctl sets one of the network's kernel variables: "net/ipv4/tcp_rmem".
func (h *Host) Sysctl(name, value string) {
	h.net.t.Helper()
	h.net.must(h.sysctl(name, value))
}

func (h *Host) sysctl(name, value string) error { return h.ns.Sysctl(name, value) }

// tearDown removes the interfaces, by which nothing can be on its way any
// more, and lets the kernel remove the rest.
func (h *Host) tearDown() error {
	var errs []error
	for _, nic := range h.nics {
		errs = append(errs, nic.remove())
	}
	h.kernel.Close()
	return errors.Join(append(errs, h.ns.Close())...)
}
