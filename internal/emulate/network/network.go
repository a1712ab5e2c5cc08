//go:build linux

package network

import (
	"errors"
	"fmt"
	"sync"

	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/emulate/wire"
	"github.com/strandmp/strand/internal/netspace"
)

// A Config is what to build.
type Config struct {
	Hosts int
	Link  emulate.Link // of all hosts and between all of them, unless Between says otherwise
	Seed  uint64

	// Between, if given, says what the path from one host to another is like, and NICs,
	// if given, what each host has.
	Between func(from, to int) emulate.Path
	NICs    []emulate.NIC

	Names []string // of the hosts; nil: host0, host1, …

	MTU    int // 0: DefaultMTU
	Memory int // see [wire.Config]; of UserSpace alone

	Backend Backend
}

// DefaultMTU is Ethernet's.
const DefaultMTU = emulate.DefaultMTU

// A Network is hosts and what joins them.
type Network struct {
	hosts   []*Host
	core    *netspace.Space // has the near ends of the cables
	joint   joint           // of those; nil until packets flow
	backend Backend
	why     string
}

// New builds a network. On return packets flow. An [*netspace.UnavailableError]
// says that this process may not.
func New(c Config) (*Network, error) {
	if c.MTU == 0 {
		c.MTU = DefaultMTU
	}
	if c.MTU < emulate.MinMTU || c.MTU > emulate.MaxMTU {
		return nil, fmt.Errorf("MTU of %d bytes: want %d to %d", c.MTU, emulate.MinMTU, emulate.MaxMTU)
	}
	if c.Hosts < 1 || c.Hosts > emulate.MaxHosts {
		return nil, fmt.Errorf("a network of %d hosts: want 1 to %d", c.Hosts, emulate.MaxHosts)
	}
	for what, n := range map[string]int{"NICs": len(c.NICs), "names": len(c.Names)} {
		if n != 0 && n != c.Hosts {
			return nil, fmt.Errorf("%d %s for %d hosts", n, what, c.Hosts)
		}
	}
	conditions := emulate.Uniform(c.Hosts, c.Link, c.Seed)
	if c.Between != nil {
		conditions.Path = c.Between
	}
	if c.NICs != nil {
		conditions.NICs = c.NICs
	}
	net, err := emulate.New(conditions)
	if err != nil {
		return nil, err
	}
	n := new(Network)
	if err := n.build(c, net); err != nil {
		_, closeErr := n.Close()
		return nil, errors.Join(err, closeErr)
	}
	return n, nil
}

func (n *Network) build(c Config, net *emulate.Switch) (err error) {
	if n.core, err = netspace.New("switch"); err != nil {
		return fmt.Errorf("switch: %w", netspace.Explain(err))
	}
	if err := withoutIPv6(n.core); err != nil {
		return fmt.Errorf("switch: %w", netspace.Explain(err))
	}
	kernel, err := n.core.Netlink()
	if err != nil {
		return fmt.Errorf("switch: %w", err)
	}
	defer kernel.Close()
	if n.backend, n.why, err = c.choose(n.core, kernel); err != nil {
		return err
	}
	cables := make([]cable, c.Hosts)
	for i := range c.Hosts {
		h, err := newHost(i, c.name(i))
		if err != nil {
			return err
		}
		n.hosts = append(n.hosts, h)
		if cables[i], err = n.cable(kernel, h, c); err != nil {
			return fmt.Errorf("cable of host %d: %w", i, netspace.Explain(err))
		}
		if err := h.configure(c.Hosts); err != nil {
			return fmt.Errorf("host %d: %w", i, netspace.Explain(err))
		}
	}
	if n.backend == Netem {
		n.joint, err = newNetem(c, n.core, cables)
	} else {
		n.joint, err = newUserSpace(c, n.core, net, cables)
	}
	return err
}

// name is a host's.
func (c Config) name(host int) string {
	if c.Names != nil {
		return c.Names[host]
	}
	return fmt.Sprintf("host%d", host)
}

// cable joins a host to the switch and returns the end there.
func (n *Network) cable(kernel *netlink.Handle, h *Host, c Config) (cable, error) {
	name := fmt.Sprintf("port%d", h.number)
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: name, MTU: c.MTU, TxQLen: -1},
		PeerName:  Interface, PeerNamespace: netlink.NsFd(h.space.Net().Fd()),
		PeerMTU: uint32(c.MTU), PeerTxQLen: -1,
	}
	if err := kernel.LinkAdd(veth); err != nil {
		return cable{}, err
	}
	port, err := kernel.LinkByName(name)
	if err != nil {
		return cable{}, err
	}
	if err := n.core.Quick(func() error { return withoutOffloads(name) }); err != nil {
		return cable{}, err
	}
	return cable{name, port.Attrs().Index}, kernel.LinkSetUp(port)
}

// Backend says what emulates the links, and why it is not netem.
func (n *Network) Backend() (b Backend, why string) { return n.backend, n.why }

// Hosts returns all hosts, by number.
func (n *Network) Hosts() []*Host { return n.hosts }

// Host returns a host by its number.
func (n *Network) Host(i int) *Host { return n.hosts[i] }

// A Report says what has happened on a network.
type Report struct {
	Backend Backend `json:"backend"`
	Why     string  `json:"why,omitempty"` // it is not netem

	Total emulate.Counters `json:"total"`
	Wire  wire.Stats       `json:"wire,omitzero"`   // of UserSpace
	Paths []PathReport     `json:"paths,omitempty"` // those that were used; of UserSpace
}

// A PathReport is about one direction between two hosts.
type PathReport struct {
	From int `json:"from"`
	To   int `json:"to"`
	emulate.Counters
}

// Close takes the network down and says what has happened on it. Programs that
// still run on its hosts find themselves without a network.
func (n *Network) Close() (Report, error) {
	r := Report{Backend: n.backend, Why: n.why}
	var errs []error
	if n.joint != nil {
		errs = append(errs, n.joint.stop(&r))
		n.joint = nil
	}
	errs = append(errs, closeAll(n.hosts))
	if n.core != nil {
		errs = append(errs, n.core.Close())
	}
	n.hosts, n.core = nil, nil
	return r, errors.Join(errs...)
}

// closeAll closes hosts all at once: most of the time the kernel waits until nobody looks at a
// cable any more, which it does for several together.
func closeAll(hosts []*Host) error {
	errs := make([]error, len(hosts))
	var closing sync.WaitGroup
	for i, h := range hosts {
		closing.Go(func() { errs[i] = h.close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// close removes the host's cable, by which nothing can be on its way any more, and
// lets the kernel remove the rest.
func (h *Host) close() error {
	var err error
	if h.kernel != nil {
		if h.index > 0 {
			err = h.kernel.LinkDel(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: Interface, Index: h.index}})
		}
		h.kernel.Close()
	}
	if err != nil {
		err = fmt.Errorf("host %d: removing %s: %w", h.number, Interface, err)
	}
	return errors.Join(err, h.space.Close())
}
