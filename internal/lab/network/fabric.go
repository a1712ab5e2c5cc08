//go:build linux

package network

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/netspace"
	"github.com/strandmp/strand/internal/lab/wire"
)

// A fabric is one network between hosts: what their cables lead to. Its ports are the hosts that
// it joins, in the order of the hosts.
type fabric struct {
	number     int
	net        Net
	mtu        int
	memory     int
	conditions emulate.Config // by ports

	core   *netspace.Space // has the near ends of the cables
	kernel *netlink.Handle // of the core
	cables []cable         // by ports
	joint  joint           // of those; nil until packets flow
	began  time.Time
}

// newFabric checks whether a network can be had. It builds nothing.
func newFabric(c Config, number int, n Net) (*fabric, error) {
	if n.On == nil {
		for i := range c.Hosts {
			n.On = append(n.On, i)
		}
	}
	before := -1
	for _, host := range n.On {
		if host <= before || host >= c.Hosts {
			return nil, fmt.Errorf("hosts %v of %d: want some of them, in their order", n.On, c.Hosts)
		}
		before = host
	}
	if n.NICs != nil && len(n.NICs) != c.Hosts {
		return nil, fmt.Errorf("%d NICs for %d hosts", len(n.NICs), c.Hosts)
	}
	f := &fabric{number: number, net: n, mtu: c.MTU, memory: cmp.Or(c.Memory, wire.DefaultMemory) / len(c.Nets)}
	f.conditions = emulate.Uniform(len(n.On), n.Link, emulate.SeedOf(c.Seed, number))
	f.conditions.Down = n.Down
	if n.Between != nil {
		f.conditions.Path = func(from, to int) emulate.Path { return n.Between(n.On[from], n.On[to]) }
	}
	if n.NICs != nil {
		for port, host := range n.On {
			f.conditions.NICs[port] = n.NICs[host]
		}
	}
	_, err := emulate.New(f.conditions)
	return f, err
}

// open makes the place where the cables lead to.
func (f *fabric) open() (err error) {
	if f.core, err = netspace.New("switch"); err != nil {
		return fmt.Errorf("switch: %w", netspace.Explain(err))
	}
	if err := withoutIPv6(f.core); err != nil {
		return fmt.Errorf("switch: %w", netspace.Explain(err))
	}
	if f.kernel, err = f.core.Netlink(); err != nil {
		return fmt.Errorf("switch: %w", err)
	}
	return nil
}

// join leads a cable to a host, if the network joins it.
func (f *fabric) join(h *Host) error {
	port := slices.Index(f.net.On, h.number)
	if port < 0 {
		return nil
	}
	near, far := fmt.Sprintf("port%d", port), interfaceOf(f.number)
	veth := &netlink.Veth{
		LinkAttrs: netlink.LinkAttrs{Name: near, MTU: f.mtu, TxQLen: -1},
		PeerName:  far, PeerNamespace: netlink.NsFd(h.space.Net().Fd()),
		PeerMTU: uint32(f.mtu), PeerTxQLen: -1,
	}
	if err := f.kernel.LinkAdd(veth); err != nil {
		return fmt.Errorf("cable: %w", err)
	}
	l, err := f.kernel.LinkByName(near)
	if err != nil {
		return err
	}
	if err := f.core.Quick(func() error { return withoutOffloads(near) }); err != nil {
		return err
	}
	f.cables = append(f.cables, cable{near, l.Attrs().Index})
	if err := f.kernel.LinkSetUp(l); err != nil {
		return err
	}
	return h.configure(f, port, far)
}

// start has packets flow.
func (f *fabric) start(b Backend) (err error) {
	if b == Netem {
		f.joint, err = newNetem(f)
	} else {
		f.joint, err = newUserSpace(f)
	}
	f.began = time.Now()
	return err
}

// stop ends the flow and says what there was.
func (f *fabric) stop() (r NetReport, err error) {
	r.Name = f.net.Name
	if f.joint == nil {
		return r, nil
	}
	err = f.joint.stop(&r)
	f.joint = nil
	r.Lived = time.Since(f.began).Round(time.Millisecond)
	r.Down = f.net.Down.Until(r.Lived)
	return r, err
}

func (f *fabric) close() error {
	if f.kernel != nil {
		f.kernel.Close()
	}
	if f.core == nil {
		return nil
	}
	return f.core.Close()
}
