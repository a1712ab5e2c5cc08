package sctp

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/wireup"
)

// A route is how a peer is reached. Pairs are the pairs of addresses that were chosen, best first;
// the first is embedded and stands for all. Spares would work too, for when none of pairs does.
type route struct {
	wireup.Pair
	pairs  []wireup.Pair
	spares []wireup.Pair
	mixed  bool // the peer has the other stack
}

// Describe implements [wireup.Way]: the best pair, and how many others there are.
func (r *route) Describe() string {
	if n := len(r.pairs) - 1; n > 0 {
		return r.DescribeWith(fmt.Sprintf(", %d more", n))
	}
	return r.Pair.Describe()
}

// routeTo chooses the pairs of addresses.
func (m *module) routeTo(rank int, remote *address) (*route, error) {
	pairs, spares, err := m.Local.Pairs(rank, &remote.Address)
	if err != nil {
		return nil, err
	}
	if pairs[0].Loopback && m.kind == overIP {
		spares = nil // the kernel would keep the association on both
	}
	return &route{Pair: pairs[0], pairs: pairs, spares: spares, mixed: m.mixed(remote)}, nil
}

// path is what the host learns of a route.
func (m *module) path(r *route) btl.Path {
	path := m.Path(r.Pair, 0)
	path.Desc, path.Private = r.Describe(), r
	return path
}

// forStack is the route as the stack takes it.
func (m *module) forStack(r *route) stack.Route {
	var s stack.Route
	for _, p := range slices.Concat(r.pairs, r.spares) {
		s.Pairs = append(s.Pairs, stack.Pair{Local: wireup.Zoned(p.Local), Remote: p.Target(), Nearby: m.Nearby(p)})
	}
	if r.mixed {
		return m.mix(r, s)
	}
	return s
}
