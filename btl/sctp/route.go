package sctp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/reach"
	"github.com/strandmp/strand/wireup"
)

// A route is how a peer is reached: the pairs of addresses that were chosen, and those that
// would work too, for when none of these does; the best first.
type route struct {
	pairs  []reach.Pair
	spares []reach.Pair
	port   uint16 // of the peer
	mixed  bool   // the peer has the other stack
}

// mostSpares is how many pairs that were not chosen are tried.
const mostSpares = 8

// target is the peer's address that a connection means to reach.
func (r *route) target() netip.AddrPort { return netip.AddrPortFrom(r.pairs[0].Target(), r.port) }

// String returns "10.8.47.1 (eth0) → 10.8.47.2:59822".
func (r *route) String() string { return fmt.Sprintf("%v → %v", r.pairs[0].Local, r.target()) }

// describe adds why the best pair was chosen, and how many others there are.
func (r *route) describe() string {
	p := r.pairs[0]
	s := fmt.Sprintf("%v (weight %s, %s", r, reach.FormatWeight(p.Weight), p.Why)
	if n := len(r.pairs) - 1; n > 0 {
		s += fmt.Sprintf(", %d more", n)
	}
	return s + ")"
}

// routeTo chooses the pairs of addresses.
func (m *module) routeTo(rank int, remote *address) (*route, error) {
	result := reach.Match(m.side, remote.Side(), m.cfg.policy)
	if len(result.Pairs) == 0 {
		return nil, wireup.NoPair(result, m.cfg.policy.Name(), prefixOfAll)
	}
	// Both sides take the same of two pairs that are as good.
	lower := func(p reach.Pair) netip.Addr { return p.Local.Addr() }
	if rank < m.host.Rank() {
		lower = func(p reach.Pair) netip.Addr { return p.Remote.Addr() }
	}
	byWorth := func(a, b reach.Pair) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), lower(a).Compare(lower(b)))
	}
	slices.SortStableFunc(result.Pairs, byWorth)
	spares := result.Spares()
	slices.SortStableFunc(spares, byWorth)
	return &route{pairs: result.Pairs, spares: spares[:min(len(spares), mostSpares)], port: remote.Port, mixed: m.mixed(remote)}, nil
}

// path is what the host learns of a route.
func (m *module) path(r *route) btl.Path {
	p := r.pairs[0]
	path := btl.Path{Bandwidth: p.Speed, Latency: m.attr.Latency, Weight: p.Weight, Desc: r.describe(), Private: r}
	if m.nearby(p) {
		path.Latency = loopbackLatency
	}
	if path.Bandwidth == 0 {
		path.Bandwidth = m.attr.Bandwidth
	}
	return path
}

// nearby reports whether a pair leads to this very machine.
func (m *module) nearby(p reach.Pair) bool {
	return p.Loopback || p.Remote.Addr().IsLoopback() || m.local.Holds(p.Remote.Addr())
}

// forStack is the route as the stack takes it.
func (m *module) forStack(r *route) stack.Route {
	var s stack.Route
	for _, p := range slices.Concat(r.pairs, r.spares) {
		s.Pairs = append(s.Pairs, stack.Pair{
			Local:  p.Source(),
			Remote: netip.AddrPortFrom(p.Target(), r.port),
			Nearby: m.nearby(p),
		})
	}
	if r.mixed {
		return m.mix(r, s)
	}
	return s
}
