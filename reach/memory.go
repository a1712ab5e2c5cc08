package reach

import (
	"errors"
	"net/netip"
)

// A Memory is a policy that remembers the kernel's answers about routes. Peers that share
// addresses, as all ranks of a host do, then cost one look-up together. Routes change: a caller
// who has reason to doubt the answers calls Forget. One goroutine at a time uses a Memory.
type Memory struct {
	Policy
	routes map[[2]netip.Addr]answer
}

// answer is what a look-up has brought: a route, or that there is none.
type answer struct {
	route Route
	err   error
}

// mostAnswers bounds a memory.
const mostAnswers = 1 << 14

// Remember gives a policy a memory. Only a policy that asks for routes uses it.
func Remember(p Policy) *Memory { return &Memory{p, make(map[[2]netip.Addr]answer)} }

// Forget drops all answers, so that the kernel is asked again.
func (m *Memory) Forget() { clear(m.routes) }

// open prepares for many questions. It opens nothing in the kernel before the first question that
// has no answer yet.
func (m *Memory) open() (Policy, func()) {
	p, ok := m.Policy.(routePolicy)
	if !ok {
		return m.Policy, func() {}
	}
	ask, done := p.lookup, func() {}
	return routePolicy{func(from, to netip.Addr) (Route, error) {
		key := [2]netip.Addr{from, to}
		if a, known := m.routes[key]; known {
			return a.route, a.err
		}
		if ask == nil {
			ask, done = kernelLookup()
		}
		route, err := ask(from, to)
		if err == nil || errors.Is(err, ErrNoRoute) {
			if len(m.routes) == mostAnswers {
				m.Forget()
			}
			m.routes[key] = answer{route, err}
		}
		return route, err
	}}, func() { done() }
}
