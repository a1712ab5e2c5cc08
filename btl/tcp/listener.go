package tcp

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/networks"
	"github.com/strandmp/strand/internal/openfiles"
	"github.com/strandmp/strand/internal/rawio"
	"github.com/strandmp/strand/reach"
)

// A listener is one listening socket: there is one for each selected address,
// all on the same port.
type listener struct {
	m     *module
	fd    int
	watch btl.Watch
	pause btl.Timer
}

const (
	backlog = 4096
	// acceptsPerPoll keeps a flood of connections from holding up everything.
	acceptsPerPoll = 16
	// troubleRest is how long a listener waits when the system gives it nothing.
	troubleRest = 100 * time.Millisecond
)

// listen opens the listeners on one port and publishes the addresses chosen from
// those of the system.
func (m *module) listen(system reach.Side, chosen []reach.Address) error {
	chosen, err := m.bindable(chosen)
	if err != nil {
		return err
	}
	fds, port, err := bindAll(chosen, m.cfg)
	if err != nil {
		return err
	}
	for _, fd := range fds {
		m.prepareListener(fd)
		m.listeners = append(m.listeners, &listener{m: m, fd: fd})
	}
	for _, l := range m.listeners {
		if err = m.cfg.setBuffers(l.fd); err == nil {
			l.watch, err = m.loop.Watch(l.fd, l)
		}
		if err != nil {
			return m.deaf(err)
		}
	}
	m.local = networks.Address{Port: port, Network: system.Network, Host: m.host.Hostname(), Interfaces: chosen}
	m.side = m.local.Side()
	m.side.Held = slices.Clone(system.Held)
	for _, a := range system.Addresses {
		if !m.local.Holds(a.Addr()) {
			m.side.Held = append(m.side.Held, a.Addr())
		}
	}
	m.blob = m.local.Encode()
	m.attr = m.attributes()
	m.host.Logf(btl.LogInfo, "tcp: rank %d: listening on port %d of %s", m.host.Rank(), port, networks.Describe(chosen))
	return nil
}

// deaf closes the listeners because of an error.
func (m *module) deaf(err error) error {
	for _, l := range m.listeners {
		l.close()
	}
	return err
}

// bindable leaves out the addresses that can not be listened on at the moment,
// such as one of IPv6 that is still being checked for duplicates.
func (m *module) bindable(addrs []reach.Address) ([]reach.Address, error) {
	var good []reach.Address
	var last error
	for _, a := range addrs {
		fds, err := bindPort([]reach.Address{a}, 0)
		if err != nil {
			last = err
			m.host.Logf(btl.LogWarn, "tcp: rank %d: not using %v: %v", m.host.Rank(), a, err)
			continue
		}
		rawio.Close(fds[0])
		good = append(good, a)
	}
	if len(good) == 0 {
		return nil, last
	}
	return good, nil
}

// bindAll finds a port that is free on all the addresses.
func bindAll(addrs []reach.Address, c config) ([]int, uint16, error) {
	if c.portMin == 0 {
		return bindAnywhere(addrs)
	}
	var last error
	for port := c.portMin; port < c.portMin+c.ports; port++ {
		fds, err := bindPort(addrs, uint16(port))
		if err == nil {
			return fds, uint16(port), nil
		}
		if last = err; !networks.PortTrouble(err) {
			break
		}
	}
	return nil, 0, fmt.Errorf("%s is free on %s: %w (%s)", c.portsTried(), networks.Describe(addrs), last, portRemedy(last))
}

// portsTried names the ports that were tried, and the parameters that say so, as
// the user wrote them.
func (c config) portsTried() string {
	if c.ports == 1 {
		return fmt.Sprintf("not even the one port %d that may be used (%s)", c.portMin, c.portSettings)
	}
	return fmt.Sprintf("none of the ports %d to %d (%s)", c.portMin, c.portMin+c.ports-1, c.portSettings)
}

// portRemedy says what can be done about a range without a free port.
func portRemedy(err error) string {
	if errors.Is(err, syscall.EACCES) {
		return fmt.Sprintf("ports below 1024 are the superuser's: raise %s", pPortMin)
	}
	return fmt.Sprintf("each process of a host needs one: raise %s, or lower %s if the range ends at 65535", pPortRange, pPortMin)
}

// bindAnywhere lets the system choose a port on the first address and takes the
// same on the others, which may need several attempts.
func bindAnywhere(addrs []reach.Address) ([]int, uint16, error) {
	const attempts = 64
	var last error
	for range attempts {
		fds, err := bindPort(addrs[:1], 0)
		if err != nil {
			return nil, 0, err
		}
		port := rawio.LocalAddr(fds[0]).Port()
		others, err := bindPort(addrs[1:], port)
		if err == nil {
			return append(fds, others...), port, nil
		}
		rawio.Close(fds[0])
		last = err
		if !networks.PortTrouble(err) {
			break
		}
	}
	return nil, 0, fmt.Errorf("no port is free on all of %s: %w", networks.Describe(addrs), last)
}

func bindPort(addrs []reach.Address, port uint16) ([]int, error) {
	var fds []int
	for _, a := range addrs {
		at := netip.AddrPortFrom(networks.Zoned(a), port)
		fd, err := rawio.Listen(at, backlog)
		if err != nil {
			for _, fd := range fds {
				rawio.Close(fd)
			}
			return nil, fmt.Errorf("listening on %v (%s): %w", at, a.Interface, err)
		}
		fds = append(fds, fd)
	}
	return fds, nil
}

// Poll implements [btl.Handler].
func (l *listener) Poll(bool) bool {
	did := false
	for range acceptsPerPoll {
		if l.watch == nil {
			return did
		}
		fd, from, err := rawio.Accept(l.fd)
		switch {
		case err == nil:
			did = true
			l.m.welcome(fd, from)
		case errors.Is(err, syscall.EAGAIN):
			return did
		case errors.Is(err, syscall.ECONNABORTED), errors.Is(err, syscall.EINTR):
		default:
			// Out of descriptors or memory: trying again at once would spin.
			l.m.stray(btl.LogWarn, netip.AddrPort{}, openfiles.Explain(err))
			l.rest(troubleRest)
			return did
		}
	}
	if l.m.strangers.Count() > calm {
		l.rest(floodRest)
	}
	return did
}

// rest stops accepting for a while.
func (l *listener) rest(d time.Duration) {
	if l.watch == nil {
		return
	}
	l.watch.Stop()
	l.watch = nil
	l.pause = l.m.loop.After(d, func() {
		l.pause = nil
		var err error
		if l.watch, err = l.m.loop.Watch(l.fd, l); err != nil {
			l.watch = nil
			l.m.stray(btl.LogWarn, netip.AddrPort{}, err)
			l.retryWatch()
		}
	})
}

// retryWatch comes back to a listener that the loop did not take.
func (l *listener) retryWatch() {
	l.pause = l.m.loop.After(time.Second, func() {
		l.pause = nil
		var err error
		if l.watch, err = l.m.loop.Watch(l.fd, l); err != nil {
			l.watch = nil
			l.retryWatch()
		}
	})
}

func (l *listener) close() {
	if l.pause != nil {
		l.pause.Stop()
	}
	if l.watch != nil {
		l.watch.Stop()
		l.watch = nil
	}
	rawio.Close(l.fd)
}
