package tcp

import (
	"errors"
	"fmt"
	"net/netip"
)

// A pair is a way to a peer: from one of our addresses to one of its.
type pair struct {
	from, to ifaddr
	port     uint16
	loopback bool
}

func (p pair) String() string {
	return fmt.Sprintf("%s → %s", p.from, netip.AddrPortFrom(p.to.prefix.Addr(), p.port))
}

// target is where to connect to.
func (p pair) target() netip.AddrPort { return netip.AddrPortFrom(p.to.prefix.Addr(), p.port) }

// source is the address to connect from; none on the loopback, where the kernel
// chooses.
func (p pair) source() netip.Addr {
	if p.loopback {
		return netip.Addr{}
	}
	return p.from.prefix.Addr()
}

// speed is that of the slower end in Mbit/s, 0 if neither is known.
func (p pair) speed() int {
	switch {
	case p.from.speed == 0:
		return p.to.speed
	case p.to.speed == 0:
		return p.from.speed
	}
	return min(p.from.speed, p.to.speed)
}

var errNoPair = errors.New("no address of ours leads to one of the peer's")

// choosePair finds the best pair of addresses: the loopback within one network
// stack, else two in one subnet, else two of one family and scope. An address
// that we hold ourselves is not the peer's unless it lives in the same stack.
func choosePair(local, remote *address) (pair, error) {
	same := local.network == remote.network
	best, bestRank := pair{}, 0
	for _, l := range local.ifaces {
		for _, r := range remote.ifaces {
			rank := rankPair(l, r, same)
			if rank != 0 && !same && holds(local, r.prefix.Addr()) {
				rank = 0
			}
			p := pair{from: l, to: r, port: remote.port, loopback: l.prefix.Addr().IsLoopback()}
			if rank > bestRank || rank == bestRank && rank > 0 && p.speed() > best.speed() {
				best, bestRank = p, rank
			}
		}
	}
	if bestRank == 0 {
		return pair{}, errNoPair
	}
	return best, nil
}

// rankPair says how promising a pair is by its addresses alone, 0 not at all.
func rankPair(l, r ifaddr, same bool) int {
	from, to := l.prefix.Addr(), r.prefix.Addr()
	if from.Is4() != to.Is4() || from.IsLoopback() != to.IsLoopback() {
		return 0
	}
	score := 0
	switch {
	case from.IsLoopback():
		if !same {
			return 0
		}
		score = 7
	case from == to:
		if !same {
			return 0
		}
		score = 5 // one interface, in and out
	case l.prefix.Bits() == r.prefix.Bits() && l.prefix.Masked() == r.prefix.Masked():
		score = 5
	case from.IsPrivate() == to.IsPrivate():
		score = 3
	default:
		score = 1
	}
	score *= 2
	if from.Is4() {
		score++ // before IPv6 of the same kind
	}
	return score
}

func holds(a *address, ip netip.Addr) bool {
	for _, i := range a.ifaces {
		if i.prefix.Addr() == ip {
			return true
		}
	}
	return false
}
