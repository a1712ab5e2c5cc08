package reach

import (
	"cmp"
	"slices"
)

// result sorts the pairs into chosen and rejected ones. The rejected ones get the reason.
func (m *matching) result() Result {
	order := make([]int, len(m.pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(m.pairs[j].Weight, m.pairs[i].Weight), cmp.Compare(i, j))
	})
	u := m.users()
	r := Result{Rejected: make([]Pair, 0, len(m.pairs)-len(m.chosen))}
	for _, i := range order {
		p := m.pairs[i]
		if u.words[i] != "" {
			r.Pairs = append(r.Pairs, p)
			continue
		}
		if p.Quality > 0 {
			row, column := m.cards(i)
			here, there := u.local[row], u.remote[column]
			p.Parallel = p.Loopback || here >= 0 && here == there
			if p.aside == "" {
				p.aside = u.rejection(&p, here, there)
			}
			p.Why, p.aside = p.Why+", but "+p.aside, ""
		}
		r.Rejected = append(r.Rejected, p)
	}
	return r
}

// users tell which chosen pair uses a NIC.
type users struct {
	words         []string // by number of the pair; "": not chosen
	local, remote []int    // pair by number of the NIC; -1: none
}

func (m *matching) users() users {
	u := users{make([]string, len(m.pairs)), slices.Repeat([]int{-1}, m.rows.count), slices.Repeat([]int{-1}, m.columns.count)}
	for _, i := range m.chosen {
		row, column := m.cards(i)
		u.words[i], u.local[row], u.remote[column] = m.pairs[i].String(), i, i
	}
	return u
}

// rejection says why a pair that would work is not used. Here and there are the
// chosen pairs that use its NICs, -1 for none. Since the choice is the best there
// is, there is at least one.
func (u users) rejection(p *Pair, here, there int) string {
	switch {
	case p.Loopback:
		return "both ends are on one network, where one pair is enough"
	case here == there:
		return "the same two interfaces are joined by " + u.words[here]
	case there < 0:
		return p.Local.Interface + " here is worth more in " + u.words[here]
	case here < 0:
		return p.Remote.Interface + " there is worth more in " + u.words[there]
	}
	return "it would take " + p.Local.Interface + " here from " + u.words[here] +
		" and " + p.Remote.Interface + " there from " + u.words[there] + ", which together are worth more"
}
