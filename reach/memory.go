package reach

import (
	"errors"
	"net/netip"
)

// A Memory is a policy that remembers what the kernel has said about routes, so
// that peers which share addresses, as all ranks of a host do, and peers that are
// asked about again cost no further look-ups. Routes change: whoever has a reason
// to doubt them calls Forget. Not for several goroutines at once.
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

// Remember gives a policy a memory, which only those that ask for routes need.
func Remember(p Policy) *Memory { return &Memory{p, make(map[[2]netip.Addr]answer)} }

// Forget has everything asked again.
func (m *Memory) Forget() { clear(m.routes) }

// open prepares for many questions. The kernel is not bothered before the first
// that is new.
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
