//go:build linux

package testnet

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
)

// A filter is what a host does to packets beside routing them. The kernel is
// given all of it at each change, in one transaction.
type filter struct {
	losses []loss
	longer []longer
	resets []string // interfaces
	deaf4  []string // interfaces
	picks  []pick
	closed []portRange
	nats   []translation
}

// tableName is the filter's in the kernel.
const tableName = "testnet"

type loss struct {
	nic   string
	share float64
}

type portRange struct{ first, last uint16 }

type translation struct {
	from netip.Prefix
	to   netip.Addr
}

// Loss loses a share of what arrives, from 0 to 1.
func (c *NIC) Loss(share float64) {
	if share < 0 || share > 1 {
		c.host.net.should(c.explain("loss", fmt.Errorf("a share of %v: want 0 to 1", share)))
		return
	}
	c.host.change(func(f *filter) {
		f.losses = slices.DeleteFunc(f.losses, func(l loss) bool { return l.nic == c.name })
		if share > 0 {
			f.losses = append(f.losses, loss{c.name, share})
		}
	})
}

type longer struct {
	nic   string
	bytes int
}

// LoseLonger loses what arrives in packets of more than so many bytes, header of IP and
// all; 0 loses none.
func (c *NIC) LoseLonger(bytes int) {
	c.host.change(func(f *filter) {
		f.longer = slices.DeleteFunc(f.longer, func(l longer) bool { return l.nic == c.name })
		if bytes > 0 {
			f.longer = append(f.longer, longer{c.name, bytes})
		}
	})
}

// Reset answers all of TCP that arrives with a reset, and keeps it from the host, as some
// firewalls do while they are loaded anew; or no more.
func (c *NIC) Reset(on bool) {
	c.host.change(func(f *filter) {
		f.resets = slices.DeleteFunc(f.resets, func(nic string) bool { return nic == c.name })
		if on {
			f.resets = append(f.resets, c.name)
		}
	})
}

// LoseIPv4 loses all of IPv4 that arrives by an interface, "lo" for the loopback's.
func (h *Host) LoseIPv4(nic string) {
	h.change(func(f *filter) { f.deaf4 = append(f.deaf4, nic) })
}

// Firewall drops, without a word, what asks for new TCP connections to these
// ports. Those that are made already, and those that this host asks for, are
// not concerned.
func (h *Host) Firewall(first, last uint16) {
	h.change(func(f *filter) { f.closed = append(f.closed, portRange{first, last}) })
}

// NAT gives packets from a network, "10.1.0.0/24", that this host forwards
// another source address.
func (h *Host) NAT(from, to string) {
	h.net.t.Helper()
	network, err := netip.ParsePrefix(from)
	h.net.must(err)
	address, err := netip.ParseAddr(to)
	h.net.must(err)
	if network.Addr().Is4() != address.Is4() {
		h.net.must(fmt.Errorf("NAT from %s to %s: want one family", from, to))
	}
	h.change(func(f *filter) { f.nats = append(f.nats, translation{network, address}) })
}

func (h *Host) change(edit func(*filter)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	edit(&h.filter)
	if err := h.filter.apply(int(h.ns.Net().Fd())); err != nil {
		h.net.should(fmt.Errorf("filter of host %s: %w", h.name, err))
	}
}

func (f *filter) apply(network int) error {
	c, err := nftables.New(nftables.WithNetNSFd(network), nftables.AsLasting())
	if err != nil {
		return err
	}
	table := &nftables.Table{Family: nftables.TableFamilyINet, Name: tableName}
	c.AddTable(table) // or there may be none to delete
	c.DelTable(table)
	c.AddTable(table)
	f.addLosses(c, table)
	f.addResets(c, table)
	f.addPicks(c, table)
	f.addClosed(c, table)
	f.addNATs(c, table)
	return errors.Join(c.Flush(), c.CloseLasting())
}

func (f *filter) addLosses(c *nftables.Conn, table *nftables.Table) {
	chain := c.AddChain(&nftables.Chain{
		Name: "loss", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRaw,
	})
	for _, l := range f.losses {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: l.rule()})
	}
	for _, l := range f.longer {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: l.rule()})
	}
	for _, nic := range f.deaf4 {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: losing4(nic)})
	}
}

func (f *filter) addResets(c *nftables.Conn, table *nftables.Table) {
	chain := c.AddChain(&nftables.Chain{
		Name: "resets", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter,
	})
	for _, nic := range f.resets {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: resetting(nic)})
	}
}

func (f *filter) addClosed(c *nftables.Conn, table *nftables.Table) {
	chain := c.AddChain(&nftables.Chain{
		Name: "closed", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookInput, Priority: nftables.ChainPriorityFilter,
	})
	for _, r := range f.closed {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: r.rule()})
	}
}

func (f *filter) addNATs(c *nftables.Conn, table *nftables.Table) {
	if len(f.nats) == 0 {
		return // a chain alone makes the kernel track all connections
	}
	chain := c.AddChain(&nftables.Chain{
		Name: "nat", Table: table, Type: nftables.ChainTypeNAT,
		Hooknum: nftables.ChainHookPostrouting, Priority: nftables.ChainPriorityNATSource,
	})
	for _, n := range f.nats {
		c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: n.rule()})
	}
}

func drop() expr.Any { return &expr.Verdict{Kind: expr.VerdictDrop} }
