//go:build linux

package testnet

import (
	"fmt"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"golang.org/x/sys/unix"
)

// A Pattern tells packets of one transport protocol by what they contain.
type Pattern []Field

// A Field is bytes of a packet at an offset from the beginning of its transport
// header: at most 16.
type Field struct {
	Offset int
	Bytes  []byte
}

// Protocol numbers for [NIC.Lose].
const (
	SCTP = unix.IPPROTO_SCTP
	TCP  = unix.IPPROTO_TCP
	UDP  = unix.IPPROTO_UDP
)

// pick is a filter that loses chosen packets.
type pick struct {
	nic      string
	protocol byte
	once     bool
	patterns []Pattern
}

// Lose loses, of what arrives, the packets of a protocol that fit one of the
// patterns: all, or the first only. It replaces an earlier choice, and none takes
// it back. Whatever changes a host's filters begins anew with the first.
func (c *NIC) Lose(protocol byte, once bool, patterns ...Pattern) {
	c.host.change(func(f *filter) {
		f.picks = slices.DeleteFunc(f.picks, func(p pick) bool { return p.nic == c.name })
		if len(patterns) > 0 {
			f.picks = append(f.picks, pick{c.name, protocol, once, patterns})
		}
	})
}

// Lost is how many packets the host has lost by [NIC.Lose] since its filters were
// changed.
func (h *Host) Lost() int {
	h.net.t.Helper()
	h.mu.Lock()
	defer h.mu.Unlock()
	n, err := h.lost()
	h.net.should(err)
	return n
}

func (h *Host) lost() (n int, err error) {
	c, err := nftables.New(nftables.WithNetNSFd(int(h.ns.Net().Fd())))
	if err != nil {
		return 0, err
	}
	table := &nftables.Table{Family: nftables.TableFamilyINet, Name: tableName}
	for i := range h.filter.picks {
		rules, err := c.GetRules(table, &nftables.Chain{Name: chainOfPick(i), Table: table})
		if err != nil {
			return 0, fmt.Errorf("filter of host %s: %w", h.name, err)
		}
		for _, r := range rules {
			for _, e := range r.Exprs {
				if counter, ok := e.(*expr.Counter); ok {
					n += int(counter.Packets)
				}
			}
		}
	}
	return n, nil
}

func chainOfPick(i int) string { return fmt.Sprintf("pick%d", i) }

// addPicks adds, for each, a chain that counts and drops, perhaps but one, and
// rules that jump there.
func (f *filter) addPicks(c *nftables.Conn, table *nftables.Table) {
	if len(f.picks) == 0 {
		return
	}
	chain := c.AddChain(&nftables.Chain{
		Name: "pick", Table: table, Type: nftables.ChainTypeFilter,
		Hooknum: nftables.ChainHookPrerouting, Priority: nftables.ChainPriorityRaw,
	})
	for i, p := range f.picks {
		lose := c.AddChain(&nftables.Chain{Name: chainOfPick(i), Table: table})
		c.AddRule(&nftables.Rule{Table: table, Chain: lose, Exprs: p.losing()})
		for _, pattern := range p.patterns {
			c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: p.rule(pattern, lose.Name)})
		}
	}
}

// [limit rate 1/week burst 1 packets] counter drop
func (p pick) losing() []expr.Any {
	var all []expr.Any
	if p.once {
		all = append(all, &expr.Limit{Type: expr.LimitTypePkts, Rate: 1, Unit: expr.LimitTimeWeek, Burst: 1})
	}
	return append(all, &expr.Counter{}, drop())
}

// iifname NIC meta l4proto PROTOCOL @th,OFFSET,LENGTH BYTES … jump CHAIN
func (p pick) rule(pattern Pattern, to string) []expr.Any {
	all := append(arriving(p.nic),
		&expr.Meta{Key: expr.MetaKeyL4PROTO, Register: 1},
		equal([]byte{p.protocol}))
	for _, field := range pattern {
		all = append(all,
			&expr.Payload{DestRegister: 1, Base: expr.PayloadBaseTransportHeader, Offset: uint32(field.Offset), Len: uint32(len(field.Bytes))},
			equal(field.Bytes))
	}
	return append(all, &expr.Verdict{Kind: expr.VerdictJump, Chain: to})
}
