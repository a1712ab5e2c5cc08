package tcp

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/networks"
	"github.com/strandmp/strand/reach"
)

// A pair is a way to a peer, from one of our addresses to one of its, and one of
// the connections that go this way.
type pair struct {
	reach.Pair
	port        uint16 // of the peer
	link, links int    // which of how many parallel connections, from 0
}

// String returns "10.8.47.1 (eth0) → 10.8.47.2:59822".
func (p pair) String() string {
	return fmt.Sprintf("%v → %v", p.Local, p.target())
}

// describe adds why the pair was chosen, for people.
func (p pair) describe() string {
	s := fmt.Sprintf("%v (weight %s, %s", p, reach.FormatWeight(p.Weight), p.Why)
	if p.links > 1 {
		s += fmt.Sprintf(", link %d of %d", p.link+1, p.links)
	}
	return s + ")"
}

// target is where to connect to.
func (p pair) target() netip.AddrPort { return netip.AddrPortFrom(p.Target(), p.port) }

// pairsTo lists the ways to a peer in the order of the paths' numbers: the best
// pair with all its links, then the next; and the spare ones, the best first.
//
// Both sides make such a list, and path i of one meets path i of the other. So
// pairs of equal weight are ordered by the addresses of the lower rank, on both
// sides; where the lists differ all the same, whoever connects is right.
func (m *module) pairsTo(rank int, remote *networks.Address) (pairs, spares []pair, err error) {
	m.refresh()
	result := reach.Match(m.side, remote.Side(), m.routes)
	if len(result.Pairs) == 0 {
		return nil, nil, networks.NoPair(result, m.cfg.policy.Name(), prefixOfAll)
	}
	lower := func(p reach.Pair) netip.Addr { return p.Local.Addr() }
	if rank < m.host.Rank() {
		lower = func(p reach.Pair) netip.Addr { return p.Remote.Addr() }
	}
	byWorth := func(a, b reach.Pair) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), lower(a).Compare(lower(b)),
			a.Local.Addr().Compare(b.Local.Addr()), a.Remote.Addr().Compare(b.Remote.Addr()))
	}
	slices.SortStableFunc(result.Pairs, byWorth)
	for _, p := range result.Pairs {
		for link := range m.cfg.links {
			pairs = append(pairs, pair{Pair: p, port: remote.Port, link: link, links: m.cfg.links})
		}
	}
	all := result.Spares()
	slices.SortStableFunc(all, byWorth)
	for _, p := range all[:min(len(all), mostSpares)] {
		spares = append(spares, pair{Pair: p, port: remote.Port, links: 1})
	}
	return pairs[:min(len(pairs), maxPaths-mostSpares)], spares, nil
}

// mostSpares is how many of the pairs that were not chosen are kept for the case that
// no chosen one works.
const mostSpares = 8

// spareIndex is the number of the i-th spare path. They are counted from the end, so
// that they never meet another path of the peer's, whose list may be of another
// length.
func spareIndex(i int) int { return maxPaths - 1 - i }

// isSpare reports whether a path of this number is a spare one.
func isSpare(path int) bool { return path >= maxPaths-mostSpares }

// bundle is the number of the pair that a path belongs to with others, or 0. Who
// connects makes as many links for a pair as we would.
func (m *module) bundle(path int) int {
	if m.cfg.links == 1 || isSpare(path) {
		return 0
	}
	return path/m.cfg.links + 1
}

// path is what the host learns of a pair.
func (m *module) path(p pair, index int) btl.Path {
	path := btl.Path{Index: index, Bandwidth: p.Speed, Latency: m.attr.Latency, Weight: p.Weight, Desc: p.describe(), Private: p}
	switch {
	case !isSpare(index):
	case p.Parallel:
		path.Spare = btl.Parallel
	default:
		path.Spare = btl.Detour
	}
	if p.Loopback {
		path.Latency = loopbackLatency
	}
	if path.Bandwidth == 0 {
		path.Bandwidth = m.attr.Bandwidth
	}
	// The links of a pair share its interfaces.
	path.Bandwidth = max(path.Bandwidth/p.links, 1)
	path.Weight /= float64(p.links)
	path.Bundle = m.bundle(index)
	return path
}
