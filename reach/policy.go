package reach

import (
	"fmt"
	"net/netip"
	"strings"
)

// A Policy judges pairs of addresses.
type Policy interface {
	// Name is what the policy is chosen by.
	Name() string
	// Score returns the quality of the way between two addresses of one family,
	// 0 if there is none, and the reason in a few words. Above 1000 it counts as 1000. It is not asked about
	// pairs that [Match] leaves out whatever the policy; see the package's
	// documentation.
	Score(local, remote Address, sameNetwork bool) (quality int, why string)
}

// policies by name, in the order in which they are listed to users, and how each judges a pair.
var policies = []struct {
	name, about string
	make        func() Policy
}{
	{"route", "by the kernel's route (Linux): direct 100, by a gateway 50, private to public 25, else 0", func() Policy { return RoutePolicy(nil) }},
	{"weighted", "by classes of addresses, as Open MPI does today: 0 to 100", func() Policy { return weighted }},
	{"weighted13", "by the five classes of Open MPI 1.3: 0 to 4", func() Policy { return weighted13 }},
	{"subnet", "as Open MPI 1.2: 1 in one subnet or if both are public, else 0", func() Policy { return subnet }},
}

// PolicyNames lists the policies there are. The default is [DefaultPolicy].
func PolicyNames() []string {
	var names []string
	for _, p := range policies {
		names = append(names, p.name)
	}
	return names
}

// DescribePolicies returns a line for each policy, for help: its name by format, which has two places for
// strings, and how it judges a pair.
func DescribePolicies(format string) []string {
	var lines []string
	for _, p := range policies {
		lines = append(lines, fmt.Sprintf(format, p.name, p.about))
	}
	return lines
}

// PolicyByName returns one of:
//
//   - route: asks the kernel for the route from the local address to the remote
//     one. See [RoutePolicy]. Where the kernel can not be asked, pairs are judged
//     as weighted does. The default on Linux.
//   - weighted: Open MPI's reachable/weighted of today, by classes of addresses,
//     from 0 to 100. The default elsewhere.
//   - weighted13: the five classes of Open MPI 1.3, from 0 to 4.
//   - subnet: the rule of Open MPI 1.2, which knows only yes (1) and no (0): one
//     subnet, or both public.
func PolicyByName(name string) (Policy, error) {
	for _, p := range policies {
		if p.name == name {
			return p.make(), nil
		}
	}
	return nil, fmt.Errorf("there is no reachability policy %q; there are %s", name, strings.Join(PolicyNames(), ", "))
}

// A relation is how two addresses of one family stand to each other by their
// classes, which is all that the policies without a route lookup know.
type relation int

const (
	privatePublic relation = iota // one of each
	privateDifferent
	privateSame
	publicDifferent
	publicSame
	linkLocals         // both IPv6 link-local
	linkLocalAndGlobal // IPv6
	loopbacks
	relations // how many there are
)

var relationWords = [relations]string{
	privatePublic:      "a private and a public address",
	privateDifferent:   "private, different subnets",
	privateSame:        "private, one subnet",
	publicDifferent:    "public, different subnets",
	publicSame:         "public, one subnet",
	linkLocals:         "both link-local",
	linkLocalAndGlobal: "a link-local and a global address",
	loopbacks:          "loopback",
}

// relate classifies a pair. IPv6 has no private addresses here, as in Open MPI:
// unique local ones (RFC 4193) count as global.
func relate(local, remote Address) relation {
	a, b := local.Addr(), remote.Addr()
	same := sameSubnet(local.Prefix, remote.Prefix)
	choose := func(ifSame, ifDifferent relation) relation {
		if same {
			return ifSame
		}
		return ifDifferent
	}
	switch {
	case a.IsLoopback() && b.IsLoopback():
		return loopbacks
	case a.Is6() && a.IsLinkLocalUnicast() && b.IsLinkLocalUnicast():
		return linkLocals
	case a.Is6() && a.IsLinkLocalUnicast() != b.IsLinkLocalUnicast():
		return linkLocalAndGlobal
	case a.Is6() || !private4(a) && !private4(b):
		return choose(publicSame, publicDifferent)
	case private4(a) && private4(b):
		return choose(privateSame, privateDifferent)
	}
	return privatePublic
}

// private4 reports whether an IPv4 address is private (RFC 1918) or link-local
// (RFC 3927).
func private4(a netip.Addr) bool { return a.IsPrivate() || a.IsLinkLocalUnicast() }

// byRelation is a policy that looks only at the classes of the addresses.
type byRelation struct {
	name    string
	quality [relations]int
}

func (p byRelation) Name() string { return p.name }

func (p byRelation) Score(local, remote Address, _ bool) (int, string) {
	r := relate(local, remote)
	return p.quality[r], relationWords[r]
}

var (
	weighted = byRelation{"weighted", [relations]int{
		publicSame: 100, publicDifferent: 90, privateSame: 80, privateDifferent: 50, privatePublic: 0,
		linkLocals: 80, linkLocalAndGlobal: 0, loopbacks: 100,
	}}
	weighted13 = byRelation{"weighted13", [relations]int{
		publicSame: 4, publicDifferent: 3, privateSame: 2, privateDifferent: 1, privatePublic: 1,
		linkLocals: 2, linkLocalAndGlobal: 0, loopbacks: 4,
	}}
	subnet = byRelation{"subnet", [relations]int{
		publicSame: 1, publicDifferent: 1, privateSame: 1, privateDifferent: 0, privatePublic: 0,
		linkLocals: 1, linkLocalAndGlobal: 0, loopbacks: 1,
	}}
)
