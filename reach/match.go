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
	m := &matching{fastest: fastest(local, remote), rows: cardsOf(local), columns: cardsOf(remote)}
	m.pairs = make([]Pair, 0, len(local.Addresses)*len(remote.Addresses))
	m.judge(local, remote, p)
	m.dropGuesses(local.Network, remote.Network)
	m.dropLinkLocal()
	m.near = m.works(func(p *Pair) bool { return p.Loopback })
	if !m.near {
		m.keepAside(p)
	}
	m.choose()
	return m.result()
}

// judge makes all pairs, those of the first local address first.
func (m *matching) judge(local, remote Side, p Policy) {
	same, differs := local.Network.Same(remote.Network), local.Network.Differs(remote.Network)
	doubles := doublesOf(remote, local) // of the remote addresses here
	for _, l := range local.Addresses {
		double, doubled := remote.holds(l.Addr())
		for i, r := range remote.Addresses {
			// If nobody knows whether the two are on one network, a pair that works
			// only then counts as possible.
			near := same || !differs && (doubled || doubles[i] != "" || l.Addr().IsLoopback() && r.Addr().IsLoopback())
			pair := Pair{Local: l, Remote: r, Speed: slower(l, r), Loopback: near}
			pair.Why = impossible(l, r, near)
			switch {
			case pair.Why != "" || near:
			case doubles[i] != "":
				pair.Why = "this host holds " + doubles[i] + " too: it would talk to itself"
			case doubled:
				pair.Why = "the peer holds " + l.Addr().String() + " (" + double + ") too: its answers would go to itself"
			case l.Addr() == r.Addr():
				pair.Why = "both hosts have " + l.Addr().String()
			}
			if pair.Why == "" {
				pair.Quality, pair.Why = p.Score(l, r, near)
				pair.Quality = min(max(pair.Quality, 0), mostQuality)
			}
			pair.Weight = m.weight(pair)
			m.pairs = append(m.pairs, pair)
		}
	}
}

// A matching is the work of one Match.
type matching struct {
	fastest float64 // Mbit/s, of all interfaces of both hosts
	rows    cards   // local
	columns cards   // remote
	pairs   []Pair  // all those of the first local address, then of the next
	chosen  []int   // indices of pairs
	near    bool    // all that work are within one network
}

// works reports whether any pair for which the condition holds would work.
func (m *matching) works(condition func(*Pair) bool) bool {
	return slices.ContainsFunc(m.pairs, func(p Pair) bool { return p.Quality > 0 && condition(&p) })
}

// drop leaves out the pairs that meet the condition.
func (m *matching) drop(condition func(*Pair) bool, why string) {
	for i := range m.pairs {
		if p := &m.pairs[i]; p.Quality > 0 && condition(p) {
			p.Quality, p.Weight, p.Why = 0, 0, why
		}
	}
}

// doublesOf returns, for each address of a side that the other side holds too, its text with the
// name of the other side's interface.
func doublesOf(side, other Side) []string {
	doubles := make([]string, len(side.Addresses))
	for i, a := range side.Addresses {
		if name, ok := other.holds(a.Addr()); ok {
			doubles[i] = a.Addr().String() + " (" + name + ")"
		}
	}
	return doubles
}

// fastest returns the highest speed known of a card.
func fastest(sides ...Side) float64 {
	most := 0.0
	for _, s := range sides {
		for _, a := range s.Addresses {
			if a.Flags&Tunnel == 0 {
				most = max(most, float64(speed(a)))
			}
		}
	}
	return most
}

// speed is that of an interface in Mbit/s, within bounds: a peer's is only what
// it says.
func speed(a Address) int { return min(max(a.Speed, 0), mostSpeed) }

const (
	// mostSpeed is above what any link does today, 10 Tbit/s in Mbit/s.
	mostSpeed = 10_000_000
	// mostQuality is the most that a policy's quality counts for. So no sum of weights overflows.
	mostQuality = 1000
)

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

// slower is the speed of the slower end, or of the only end whose speed is known. A tunnel counts
// for tunnelSpeed at most: its driver states a speed that is made up, or that of the underlay, which
// the tunnel shares.
func slower(a, b Address) int {
	least, most := min(speed(a), speed(b)), max(speed(a), speed(b))
	if least == 0 {
		least = most
	}
	if (a.Flags|b.Flags)&Tunnel != 0 && (least == 0 || least > tunnelSpeed) {
		least = tunnelSpeed
	}
	return least
}

const (
	// tunnelSpeed is the most that a tunnel counts for, in Mbit/s.
	tunnelSpeed = 10
	// tunnelShare is the weight of a tunnel as a part of a card's: so little that all tunnels of
	// a host together weigh less than the poorest card.
	tunnelShare = 1.0 / 1024
)

// weight is quality × (min(a, b) + 1/(1+|a−b|)), and far less for a tunnel.
func (m *matching) weight(p Pair) float64 {
	if p.tunnelled() {
		return float64(p.Quality) * tunnelShare
	}
	a, b := float64(speed(p.Local)), float64(speed(p.Remote))
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

// dropGuesses leaves out the pairs that work only if both ends are on one network, if that is not
// known and another pair would work. If none would, they are tried: the handshake proves who
// answers.
func (m *matching) dropGuesses(local, remote Network) {
	if local.Same(remote) || !m.works(func(p *Pair) bool { return !p.Loopback }) {
		return
	}
	m.drop(func(p *Pair) bool { return p.Loopback },
		"nobody knows whether both ends are on one host, and there is a way that does not depend on it")
}

// dropLinkLocal leaves pairs of link-local addresses out if another pair would work.
func (m *matching) dropLinkLocal() {
	linkLocal := func(p *Pair) bool {
		return p.Local.Addr().IsLinkLocalUnicast() || p.Remote.Addr().IsLinkLocalUnicast()
	}
	if m.works(func(p *Pair) bool { return !linkLocal(p) }) {
		m.drop(linkLocal, "link-local addresses do not tell which links are joined, and there is another way")
	}
}

// choose finds the best pairing.
func (m *matching) choose() {
	if m.near {
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

// best returns the place of the pair to use on one network, or −1: loopback addresses come
// first, then the weight decides.
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
		if p.Quality == 0 || p.aside != "" {
			continue
		}
		row, column := m.cards(i)
		if best := g.pair[row][column]; best < 0 || preferred(p, &m.pairs[best]) {
			g.pair[row][column] = i
			// Each pair costs 1. All pairs together cost less than factor, the
			// least difference between unequal sums of weights. So of choices of
			// equal weight the one with fewer pairs wins, and no other changes.
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
// every machine. Weights go up to 1e10, which leaves room for sums over many
// interfaces.
func fixed(weight float64) int64 {
	const unit = 1 << 10
	return max(int64(math.Round(weight*unit)), 1)
}
