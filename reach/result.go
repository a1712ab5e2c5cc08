package reach

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
)

// A Pair is a way to a peer, from one address of ours to one of its.
type Pair struct {
	Local, Remote Address
	Quality       int     // by the policy; 0: can not work
	Weight        float64 // quality × (min(a, b) + 1/(1+|a−b|)); see the package's documentation for tunnels
	Speed         int     // Mbit/s of the slower end, 0 if neither is known
	Loopback      bool    // both ends are on one network, or would have to be: the kernel's loopback carries it, whatever the addresses
	Why           string  // reason for the quality, or for the rejection
	Parallel      bool    // not chosen, since a chosen pair joins the same two interfaces, or the kernel's loopback carries both

	aside string // why a pair that would work is not to serve beside others; "" if it is
}

// FormatWeight writes a weight for people, without exponent: six significant digits, or a whole
// number from a million on.
func FormatWeight(w float64) string {
	if w >= 1e6 {
		return strconv.FormatFloat(w, 'f', 0, 64)
	}
	short, _ := strconv.ParseFloat(strconv.FormatFloat(w, 'g', 6, 64), 64) // what FormatFloat writes can be read
	return strconv.FormatFloat(short, 'f', -1, 64)
}

// String returns "10.8.47.1 (eth0) → 10.8.47.2 (eth0)".
func (p Pair) String() string { return p.Local.String() + " → " + p.Remote.String() }

// Source is the address to connect from, with its zone if it is link-local. On
// one network it is not valid: any will do, and the kernel chooses.
func (p Pair) Source() netip.Addr {
	if p.Loopback {
		return netip.Addr{}
	}
	return p.zoned(p.Local.Addr())
}

// Target is the address to connect to. The zone of a link-local one is our
// interface; what the peer calls its own means nothing here.
func (p Pair) Target() netip.Addr { return p.zoned(p.Remote.Addr()) }

func (p Pair) zoned(a netip.Addr) netip.Addr {
	if ofLink(a) {
		return a.WithZone(p.Local.Interface)
	}
	return a
}

// A Result is what Match found: every pair of addresses, chosen or not.
type Result struct {
	Pairs    []Pair // chosen, the best first
	Rejected []Pair // all others, the best first, each with the reason
}

// Spares are the pairs that would work but were not chosen, since their interfaces are of more use
// in other pairs. They are tried when the chosen ones turn out not to work. The best come first.
// On one network the kernel's loopback carries every pair. A firewall may keep one family from it, so there is one of the other.
func (r Result) Spares() []Pair {
	var spares []Pair
	for _, p := range r.Rejected {
		if p.Quality > 0 && (!p.Loopback || !hasFamily(r.Pairs, &p) && !hasFamily(spares, &p)) {
			spares = append(spares, p)
		}
	}
	return spares
}

// hasFamily reports whether one of the pairs is of the family of p.
func hasFamily(pairs []Pair, p *Pair) bool {
	return slices.ContainsFunc(pairs, func(other Pair) bool { return other.Local.Addr().Is4() == p.Local.Addr().Is4() })
}

// String lists the chosen pairs in one line.
func (r Result) String() string {
	if len(r.Pairs) == 0 {
		return "no way"
	}
	parts := make([]string, len(r.Pairs))
	for i, p := range r.Pairs {
		parts[i] = fmt.Sprintf("%v (weight %s, %s)", p, FormatWeight(p.Weight), p.Why)
	}
	return strings.Join(parts, ", ")
}
