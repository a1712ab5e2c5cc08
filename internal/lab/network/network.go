//go:build linux

package network

import (
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/wire"
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

	// Nets, if given, are several networks between the hosts, each with an interface of
	// its own on those that it joins. Link, Between and NICs are theirs then.
	Nets []Net

	Names []string // of the hosts; nil: host0, host1, …

	MTU    int // 0: DefaultMTU
	Memory int // see [wire.Config]; of UserSpace alone, all networks together

	Backend Backend
}

// A Net is one of the networks between the hosts.
type Net struct {
	Name string
	On   []int // numbers of the hosts that it joins, rising; nil: all
	Link emulate.Link
	Down emulate.Schedule

	// As in [Config], by the numbers of hosts.
	Between func(from, to int) emulate.Path
	NICs    []emulate.NIC
}

// DefaultMTU is Ethernet's.
const DefaultMTU = emulate.DefaultMTU

// MaxNets bounds how many networks hosts may have.
const MaxNets = 16

// A Network is hosts and what joins them.
type Network struct {
	hosts   []*Host
	fabrics []*fabric
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
	if c.Names != nil && len(c.Names) != c.Hosts {
		return nil, fmt.Errorf("%d names for %d hosts", len(c.Names), c.Hosts)
	}
	if c.Nets == nil {
		c.Nets = []Net{{Link: c.Link, Between: c.Between, NICs: c.NICs}}
	}
	if len(c.Nets) > MaxNets {
		return nil, fmt.Errorf("%d networks between the hosts: want at most %d", len(c.Nets), MaxNets)
	}
	n := new(Network)
	for i, net := range c.Nets {
		f, err := newFabric(c, i, net)
		if err != nil {
			return nil, net.explain(err)
		}
		n.fabrics = append(n.fabrics, f)
	}
	if err := n.build(c); err != nil {
		_, closeErr := n.Close()
		return nil, errors.Join(err, closeErr)
	}
	return n, nil
}

// explain says which of several networks an error is about.
func (n Net) explain(err error) error {
	if n.Name == "" || err == nil {
		return err
	}
	return fmt.Errorf("network %s: %w", n.Name, err)
}

func (n *Network) build(c Config) (err error) {
	for _, f := range n.fabrics {
		if err := f.open(); err != nil {
			return f.net.explain(err)
		}
	}
	if n.backend, n.why, err = c.choose(n.fabrics[0]); err != nil {
		return err
	}
	for i := range c.Hosts {
		h, err := newHost(i, c.name(i))
		if err != nil {
			return err
		}
		n.hosts = append(n.hosts, h)
		for _, f := range n.fabrics {
			if err := f.join(h); err != nil {
				return fmt.Errorf("host %d: %w", i, f.net.explain(netspace.Explain(err)))
			}
		}
	}
	for _, f := range n.fabrics { // all at about the same time
		if err := f.start(n.backend); err != nil {
			return f.net.explain(err)
		}
	}
	return nil
}

// name is a host's.
func (c Config) name(host int) string {
	if c.Names != nil {
		return c.Names[host]
	}
	return fmt.Sprintf("host%d", host)
}

// Backend says what emulates the links, and why it is not netem.
func (n *Network) Backend() (b Backend, why string) { return n.backend, n.why }

// Hosts returns all hosts, by number.
func (n *Network) Hosts() []*Host { return n.hosts }

// Host returns a host by its number.
func (n *Network) Host(i int) *Host { return n.hosts[i] }

// A Report says what has happened on all networks together, and on each of them.
type Report struct {
	Backend Backend `json:"backend"`
	Why     string  `json:"why,omitempty"` // it is not netem

	Total emulate.Counters `json:"total"`
	Wire  wire.Stats       `json:"wire,omitzero"`  // of UserSpace: all networks, added up by [wire.Stats.Add]
	Nets  []NetReport      `json:"nets,omitempty"` // one for each of [Config.Nets], or one
}

// A NetReport says what has happened on one of the networks.
type NetReport struct {
	Name  string           `json:"name,omitempty"`
	Total emulate.Counters `json:"total"`
	Wire  wire.Stats       `json:"wire,omitzero"`
	Paths []PathReport     `json:"paths,omitempty"` // those that were used; of UserSpace

	// Lived is for how long the network was there, and Down when it was not.
	Lived time.Duration    `json:"lived"`
	Down  []emulate.Outage `json:"down,omitempty"`
}

// Paths are those of all networks that were used.
func (r *Report) Paths() (all []PathReport) {
	for _, n := range r.Nets {
		all = append(all, n.Paths...)
	}
	return all
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
	for _, f := range n.fabrics {
		one, err := f.stop()
		errs = append(errs, f.net.explain(err))
		r.Nets = append(r.Nets, one)
		r.Total.Add(one.Total)
		r.Wire.Add(one.Wire)
	}
	errs = append(errs, closeAll(n.hosts))
	for _, f := range n.fabrics {
		errs = append(errs, f.close())
	}
	n.hosts, n.fabrics = nil, nil
	return r, errors.Join(errs...)
}

// closeAll closes hosts all at once. Most of the time goes by while the kernel waits until nobody
// looks at a cable any more, and it waits for several cables together.
func closeAll(hosts []*Host) error {
	errs := make([]error, len(hosts))
	var closing sync.WaitGroup
	for i, h := range hosts {
		closing.Go(func() { errs[i] = h.close() })
	}
	closing.Wait()
	return errors.Join(errs...)
}

// close removes the host's cables, so that nothing can be on its way any more. The kernel removes
// the rest.
func (h *Host) close() error {
	var errs []error
	for _, c := range h.cables {
		if err := h.kernel.LinkDel(&netlink.GenericLink{LinkAttrs: netlink.LinkAttrs{Name: c.name, Index: c.index}}); err != nil {
			errs = append(errs, fmt.Errorf("host %d: removing %s: %w", h.number, c.name, err))
		}
	}
	if h.kernel != nil {
		h.kernel.Close()
	}
	return errors.Join(append(errs, h.space.Close())...)
}
