package sctp

import (
	"fmt"
	"net/netip"

	"github.com/strandmp/strand/btl/sctp/internal/stack"
)

// Two stacks of different kinds meet over UDP. The user stack's packets always travel
// in UDP; the kernel's do if the kernel is told so (RFC 6951). The kernel sends from one
// UDP port of the whole host, btl_sctp_encap_port. Its own SCTP port must be the one
// that the user stack's packets are for (stack.InnerPort).

// mixed reports whether the peer has the other stack.
func (m *module) mixed(remote *address) bool { return remote.stack != m.kind }

// canMix says why the two stacks can not talk to each other, or nil.
func (m *module) canMix(remote *address) error {
	if !m.mixed(remote) {
		return nil
	}
	if m.cfg.tuning.EncapPort == 0 {
		return fmt.Errorf("start all with %s=user, or make the kernel's SCTP available everywhere, or have it carried in UDP: %s", pStack, pEncapPort)
	}
	kernel := &m.Local.Address
	if remote.stack == overIP {
		kernel = &remote.Address
	}
	if kernel.Port != stack.InnerPort {
		return fmt.Errorf("the one with the kernel stack has port %d, and the other one's packets are all for %d: start it with %s=%d",
			kernel.Port, stack.InnerPort, pPortMin, stack.InnerPort)
	}
	return nil
}

// mix is the route to a peer with the other stack. The kernel gets one pair of addresses only,
// since the user stack takes an association at one address at a time.
func (m *module) mix(r *route, s stack.Route) stack.Route {
	if m.kind == overIP {
		s.Pairs = s.Pairs[:1]
	}
	for i := range s.Pairs {
		p := &s.Pairs[i]
		if m.kind == overIP {
			p.Encap = r.Port
			p.Remote = netip.AddrPortFrom(p.Remote.Addr(), stack.InnerPort)
		} else {
			p.Remote = netip.AddrPortFrom(p.Remote.Addr(), uint16(m.cfg.tuning.EncapPort))
		}
	}
	return s
}
