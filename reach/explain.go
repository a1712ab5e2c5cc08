package reach

import (
	"cmp"
	"slices"
)

// result sorts the pairs into chosen and rejected, these with the reason.
func (m *matching) result() Result {
	order := make([]int, len(m.pairs))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(m.pairs[j].Weight, m.pairs[i].Weight) })
	users := newUsers(m)
	r := Result{Rejected: make([]Pair, 0, len(m.pairs)-len(m.chosen))}
	for _, i := range order {
		p := m.pairs[i]
		if users.chosen[i] != "" {
			r.Pairs = append(r.Pairs, p)
			continue
		}
		if p.Quality > 0 {
			p.Why += ", but " + users.rejection(p)
		}
		r.Rejected = append(r.Rejected, p)
	}
	return r
}

// users tell which chosen pair uses a NIC.
type users struct {
	chosen          map[int]string // by number, in words
	locals, remotes map[card]int   // numbers
}

func newUsers(m *matching) users {
	u := users{make(map[int]string), make(map[card]int), make(map[card]int)}
	for _, i := range m.chosen {
		p := m.pairs[i]
		u.chosen[i] = p.String()
		u.locals[p.Local.card()], u.remotes[p.Remote.card()] = i, i
	}
	return u
}

// rejection says why a pair that would work is not used. Since the choice is the
// best there is, at least one of its NICs is used by another pair.
func (u users) rejection(p Pair) string {
	if p.Loopback {
		return "both ends are on one network, where one pair is enough"
	}
	i, here := u.locals[p.Local.card()]
	j, there := u.remotes[p.Remote.card()]
	switch {
	case here && there && i == j:
		return "the same two interfaces are joined by " + u.chosen[i]
	case here && there:
		return "it would take " + p.Local.Interface + " here from " + u.chosen[i] +
			" and " + p.Remote.Interface + " there from " + u.chosen[j] + ", which together are worth more"
	case here:
		return p.Local.Interface + " here is worth more in " + u.chosen[i]
	default:
		return p.Remote.Interface + " there is worth more in " + u.chosen[j]
	}
}
