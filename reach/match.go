package reach

import (
	"math"
	"slices"
)

// Match judges every pair of a local and a remote address and chooses those to
// connect, each NIC at most once. The package's documentation states the rules.
// It is deterministic; but for the route lookups of the policy route, it is
// pure.
func Match(local, remote Side, p Policy) Result {
	if o, ok := p.(interface{ open() (Policy, func()) }); ok {
		opened, done := o.open()
		defer done()
		p = opened
	}
	same := local.Network.Same(remote.Network)
	m := &matching{fastest: fastest(local, remote), rows: cardsOf(local), columns: cardsOf(remote)}
	m.pairs = make([]Pair, 0, len(local.Addresses)*len(remote.Addresses))
	doubles := doublesOf(remote, local) // of the remote addresses here
	for _, l := range local.Addresses {
		double, doubled := remote.holds(l.Addr())
		for i, r := range remote.Addresses {
			pair := Pair{Local: l, Remote: r, Speed: slower(l.Speed, r.Speed), Loopback: same}
			pair.Why = impossible(l, r, same)
			switch {
			case pair.Why != "" || same:
			case doubles[i] != "":
				pair.Why = "this host holds " + doubles[i] + " too: it would talk to itself"
			case doubled:
				pair.Why = "the peer holds " + l.Addr().String() + " (" + double + ") too: its answers would go to itself"
			}
			if pair.Why == "" {
				pair.Quality, pair.Why = p.Score(l, r, same)
				pair.Quality = max(pair.Quality, 0)
			}
			pair.Weight = m.weight(pair)
			m.pairs = append(m.pairs, pair)
		}
	}
	m.dropLinkLocal()
	m.choose(same)
	return m.result()
}

// A matching is the work of one Match.
type matching struct {
	fastest float64 // Mbit/s, of all interfaces of both hosts
	rows    cards   // local
	columns cards   // remote
	pairs   []Pair  // all those of the first local address, then of the next
	chosen  []int   // indices of pairs
}

// doublesOf returns for each address of a side, if the other side holds it too,
// its text with the name of the interface that does.
func doublesOf(side, other Side) []string {
	doubles := make([]string, len(side.Addresses))
	for i, a := range side.Addresses {
		if name, ok := other.holds(a.Addr()); ok {
			doubles[i] = a.Addr().String() + " (" + name + ")"
		}
	}
	return doubles
}

// fastest returns the highest speed known of an interface.
func fastest(sides ...Side) float64 {
	most := 0.0
	for _, s := range sides {
		for _, a := range s.Addresses {
			most = max(most, speed(a))
		}
	}
	return most
}

// speed is that of an interface in Mbit/s, within bounds: a peer's is only what
// it says.
func speed(a Address) float64 { return min(float64(max(a.Speed, 0)), mostSpeed) }

// mostSpeed is above what any link does today, 10 Tbit/s in Mbit/s.
const mostSpeed = 1e7

// impossible says why two addresses can not be joined whatever the policy, ""
// if they may.
func impossible(l, r Address, same bool) string {
	from, to := l.Addr(), r.Addr()
	switch {
	case !from.IsValid() || !to.IsValid():
		return "not an address"
	case from.Is4() != to.Is4():
		return "IPv4 and IPv6 do not mix"
	case from.IsLoopback() != to.IsLoopback():
		return "a loopback address leads to loopback addresses only"
	case from.IsLoopback() && !same:
		return "loopback, and the peer is on another host or in another network namespace"
	case same:
		return ""
	case l.Flags&NoCarrier != 0:
		return l.Interface + " here has no carrier"
	case r.Flags&NoCarrier != 0:
		return r.Interface + " there has no carrier"
	}
	return ""
}

// slower is the speed of the slower end, of the known one if one is not known.
func slower(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// weight is quality × (min(a, b) + 1/(1+|a−b|)).
func (m *matching) weight(p Pair) float64 {
	a, b := speed(p.Local), speed(p.Remote)
	switch {
	case a == 0 && b == 0:
		a, b = m.fastest, m.fastest
	case a == 0:
		a = b
	case b == 0:
		b = a
	}
	return float64(p.Quality) * (min(a, b) + 1/(1+math.Abs(a-b)))
}

// dropLinkLocal leaves link-local addresses out where there is another way.
func (m *matching) dropLinkLocal() {
	linkLocal := func(p Pair) bool { return p.Local.Addr().IsLinkLocalUnicast() || p.Remote.Addr().IsLinkLocalUnicast() }
	other := slices.ContainsFunc(m.pairs, func(p Pair) bool { return p.Quality > 0 && !linkLocal(p) })
	if !other {
		return
	}
	for i := range m.pairs {
		if p := &m.pairs[i]; p.Quality > 0 && linkLocal(*p) {
			p.Quality, p.Weight = 0, 0
			p.Why = "link-local addresses do not tell which links are joined, and there is another way"
		}
	}
}

// choose finds the best pairing.
func (m *matching) choose(same bool) {
	if same {
		if best := m.best(); best >= 0 {
			m.chosen = []int{best}
		}
		return
	}
	g := m.graph()
	for row, column := range assign(g.weights) {
		if column >= 0 {
			m.chosen = append(m.chosen, g.pair[row][column])
		}
	}
}

// best returns the pair to use on one network: a loopback address before others,
// then the weight; -1 if there is none.
func (m *matching) best() int {
	best := -1
	better := func(p, q *Pair) bool {
		if a, b := p.Local.Addr().IsLoopback(), q.Local.Addr().IsLoopback(); a != b {
			return a
		}
		return preferred(p, q)
	}
	for i := range m.pairs {
		if p := &m.pairs[i]; p.Quality > 0 && (best < 0 || better(p, &m.pairs[best])) {
			best = i
		}
	}
	return best
}

// preferred orders pairs of addresses by which is better for the same NICs.
func preferred(p, q *Pair) bool {
	if p.Weight != q.Weight {
		return p.Weight > q.Weight
	}
	return p.Local.Addr().Is4() && !q.Local.Addr().Is4()
}

// A graph has a row for each local NIC, a column for each remote one, and knows
// the best pair of addresses of each two.
type graph struct {
	weights [][]int64
	pair    [][]int
}

func (m *matching) graph() graph {
	rows, columns := m.rows.count, m.columns.count
	g := graph{make([][]int64, rows), make([][]int, rows)}
	for row := range g.weights {
		g.weights[row], g.pair[row] = make([]int64, columns), slices.Repeat([]int{-1}, columns)
	}
	factor := int64(min(rows, columns) + 1)
	for i := range m.pairs {
		p := &m.pairs[i]
		if p.Quality == 0 {
			continue
		}
		row, column := m.cards(i)
		if best := g.pair[row][column]; best < 0 || preferred(p, &m.pairs[best]) {
			g.pair[row][column] = i
			// One less than a multiple of more than the number of pairs: of
			// equal sums the one of fewer pairs is larger.
			g.weights[row][column] = fixed(p.Weight)*factor - 1
		}
	}
	return g
}

// cards returns the numbers of the NICs of a pair.
func (m *matching) cards(pair int) (row, column int) {
	width := len(m.columns.of)
	return m.rows.of[pair/width], m.columns.of[pair%width]
}

// cards numbers the NICs of a side.
type cards struct {
	of    []int // by address
	count int
}

func cardsOf(s Side) cards {
	c := cards{of: make([]int, len(s.Addresses))}
	numbers := make(map[card]int)
	for i, a := range s.Addresses {
		n, known := numbers[a.card()]
		if !known {
			n = len(numbers)
			numbers[a.card()] = n
		}
		c.of[i] = n
	}
	c.count = len(numbers)
	return c
}

// fixed makes a whole number of a weight, so that sums are exact and the same on
// every machine. Weights go up to 1e9, so that there is room for sums over many
// interfaces.
func fixed(weight float64) int64 {
	const unit = 1 << 10
	return max(int64(math.Round(weight*unit)), 1)
}
