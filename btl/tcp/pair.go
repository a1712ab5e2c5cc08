package tcp

import (
	"fmt"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/wireup"
)

// A pair is a way to a peer, from one of our addresses to one of its, and one of
// the connections that go this way.
type pair struct {
	wireup.Pair
	link, links int // which of how many parallel connections, from 0
}

// Describe implements [wireup.Way].
func (p pair) Describe() string {
	if p.links > 1 {
		return p.DescribeWith(fmt.Sprintf(", link %d of %d", p.link+1, p.links))
	}
	return p.Pair.Describe()
}

// pathsTo lists the ways to a peer in the order of the paths' numbers: the best pair with
// all its links, then the next; and the spare ones, the best first. Path i of one side meets
// path i of the other.
func (m *module) pathsTo(rank int, remote *wireup.Address) ([]btl.Path, error) {
	pairs, spares, err := m.local.Pairs(rank, remote)
	if err != nil {
		return nil, err
	}
	var paths []btl.Path
	for _, p := range pairs {
		for link := range m.cfg.links {
			if len(paths) < maxPaths-wireup.MostSpares {
				paths = append(paths, m.path(pair{p, link, m.cfg.links}, len(paths)))
			}
		}
	}
	for i, p := range spares {
		paths = append(paths, m.path(pair{p, 0, 1}, spareIndex(i)))
	}
	return paths, nil
}

// spareIndex is the number of the i-th spare path. They are counted from the end, so
// that they never meet another path of the peer's, whose list may be of another
// length.
func spareIndex(i int) int { return maxPaths - 1 - i }

// isSpare reports whether a path of this number is a spare one.
func isSpare(path int) bool { return path >= maxPaths-wireup.MostSpares }

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
	path := btl.Path{Index: index, Bandwidth: p.Speed, Latency: m.attr.Latency, Weight: p.Weight, Desc: p.Describe(), Private: p}
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
