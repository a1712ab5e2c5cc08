package strangers

import (
	"net/netip"
	"slices"
	"time"
)

const (
	// Silent is how long a stranger that says nothing keeps its place against its equals,
	// but for chance. Claimed is the same for one that has said who it wants to be.
	Silent  = 100 * time.Millisecond
	Claimed = 500 * time.Millisecond
	// burst is how many exchanges that the pace has allowed meanwhile may come at once: a
	// process looks at what has come only now and then.
	burst = 16
)

// Rules are what a crowd keeps to.
type Rules struct {
	// Most is how many places there are, at least 1.
	Most int
	// Pace is the least time between two exchanges among equals, on average. 0 sets no
	// bound; it is for a transport that bounds by itself how many strangers it takes in.
	Pace time.Duration
	// Chance returns a number from 0 to n-1, such as [math/rand/v2.IntN].
	Chance func(n int) int
}

// A Crowd is the strangers of one module. T is what the transport has of each.
type Crowd[T any] struct {
	rules Rules
	hosts map[netip.Addr]*host[T]
	count int
	next  int64 // when the pace allows another exchange
}

// A host is all strangers of one address, by their ports.
type host[T any] struct {
	ports map[uint16]*port[T]
	count int
}

// A port is the strangers of one port: those that have not said a whole hello, and those
// that have said who they want to be, each in the order of their coming.
type port[T any] struct{ silent, claimed []*Place[T] }

func (p *port[T]) count() int { return len(p.silent) + len(p.claimed) }

// A Place is one stranger's.
type Place[T any] struct {
	// Who has it.
	Who T

	crowd   *Crowd[T]
	from    netip.AddrPort
	since   int64
	claimed bool
	left    bool
}

// New makes an empty crowd.
func New[T any](r Rules) *Crowd[T] {
	return &Crowd[T]{rules: r, hosts: make(map[netip.Addr]*host[T])}
}

// Count is how many places are taken.
func (c *Crowd[T]) Count() int { return c.count }

// Most is how many places there are.
func (c *Crowd[T]) Most() int { return c.rules.Most }

// Room reports whether the pace allows a stranger to be taken in now. A transport in which a
// stranger that waits costs nothing asks before [Crowd.Enter].
func (c *Crowd[T]) Room(now int64, from netip.AddrPort) bool {
	if c.count < c.rules.Most || now >= c.next {
		return true
	}
	_, equals := c.payer(plain(from))
	return !equals
}

// Enter gives a stranger a place. If none was free, another stranger has lost its own: the
// caller ends the loser. The port of from is 0 in a transport in which every connection has one
// of its own, as it says nothing about who connects then.
func (c *Crowd[T]) Enter(now int64, from netip.AddrPort, who T) (place, loser *Place[T]) {
	from = plain(from)
	if c.count >= c.rules.Most {
		p, equals := c.payer(from)
		if equals {
			c.next = max(c.next, now-burst*int64(c.rules.Pace)) + int64(c.rules.Pace)
		}
		loser = c.dispensable(p, now)
		loser.Leave()
	}
	place = &Place[T]{Who: who, crowd: c, from: from, since: now}
	h := c.hosts[from.Addr()]
	if h == nil {
		h = &host[T]{ports: make(map[uint16]*port[T])}
		c.hosts[from.Addr()] = h
	}
	p := h.ports[from.Port()]
	if p == nil {
		p = new(port[T])
		h.ports[from.Port()] = p
	}
	p.silent = append(p.silent, place)
	h.count++
	c.count++
	return place, loser
}

// plain is the one spelling of an address: not mapped into IPv6, and without zone.
func plain(from netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(from.Addr().Unmap().WithZone(""), from.Port())
}

// payer is the port that has to give a place to a stranger. Equals means that it is an exchange
// among equals, by which no share becomes fairer.
func (c *Crowd[T]) payer(from netip.AddrPort) (p *port[T], equals bool) {
	own := c.hosts[from.Addr()]
	h, fairer := heaviest(c.hosts, own, (*host[T]).size, c.rules.Chance)
	var ownPort *port[T]
	if h == own {
		ownPort = own.ports[from.Port()]
		p, fairer = heaviest(h.ports, ownPort, (*port[T]).count, c.rules.Chance)
		return p, !fairer
	}
	p, _ = heaviest(h.ports, nil, (*port[T]).count, c.rules.Chance)
	return p, !fairer
}

func (h *host[T]) size() int {
	if h == nil {
		return 0
	}
	return h.count
}

// heaviest is who holds most. That is the newcomer's own if none holds more; of several others
// chance picks one. It is fairer to take a place from the heaviest if it still holds no less than
// the newcomer's own afterwards.
func heaviest[K comparable, S any](all map[K]*S, own *S, size func(*S) int, chance func(int) int) (most *S, fairer bool) {
	mine := 0
	if own != nil {
		mine = size(own)
		most = own
	}
	top, ties := mine, 0
	for _, s := range all {
		switch n := size(s); {
		case n > top:
			most, top, ties = s, n, 1
		case n == top && ties > 0:
			ties++
			if chance(ties) == 0 {
				most = s
			}
		}
	}
	return most, top >= mine+2
}

// dispensable is which stranger of a port goes.
func (c *Crowd[T]) dispensable(p *port[T], now int64) *Place[T] {
	switch {
	case len(p.silent) > 0 && now-p.silent[0].since >= int64(Silent):
		return p.silent[0]
	case len(p.claimed) > 0 && now-p.claimed[0].since >= int64(Claimed):
		return p.claimed[0]
	case len(p.silent) >= len(p.claimed):
		return p.silent[c.rules.Chance(len(p.silent))]
	}
	return p.claimed[c.rules.Chance(len(p.claimed))]
}

// Claims notes that the stranger has said who it wants to be.
func (l *Place[T]) Claims() {
	if l.left || l.claimed {
		return
	}
	p := l.crowd.hosts[l.from.Addr()].ports[l.from.Port()]
	p.silent = without(p.silent, l)
	p.claimed = append(p.claimed, l)
	l.claimed = true
}

// Leave gives the place back: the stranger has proved itself, or is gone. A second call
// does nothing.
func (l *Place[T]) Leave() {
	if l == nil || l.left {
		return
	}
	l.left = true
	c := l.crowd
	h := c.hosts[l.from.Addr()]
	p := h.ports[l.from.Port()]
	if l.claimed {
		p.claimed = without(p.claimed, l)
	} else {
		p.silent = without(p.silent, l)
	}
	c.count--
	if h.count--; h.count == 0 {
		delete(c.hosts, l.from.Addr())
	} else if p.count() == 0 {
		delete(h.ports, l.from.Port())
	}
}

func without[T any](list []*Place[T], l *Place[T]) []*Place[T] {
	i := slices.Index(list, l)
	return slices.Delete(list, i, i+1)
}

// All returns everybody.
func (c *Crowd[T]) All() []*Place[T] {
	var all []*Place[T]
	for _, h := range c.hosts {
		for _, p := range h.ports {
			all = append(append(all, p.silent...), p.claimed...)
		}
	}
	return all
}
