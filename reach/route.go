package reach

import (
	"errors"
	"fmt"
	"net/netip"
	"slices"
)

// A Route is what the kernel would do with a packet.
type Route struct {
	Interface int        // index of the interface it leaves by
	Name      string     // that interface's name, if known
	Gateway   netip.Addr // the next hop; not valid if the destination is on the link
	Local     bool       // the destination is an address of this host
	// Hops are the interfaces of all next hops, where the route has several. The kernel chooses one for each flow.
	Hops []int
}

// A Lookup asks for the route from a source address to a destination. The error
// is an ErrNoRoute if the system says that there is none.
type Lookup func(from, to netip.Addr) (Route, error)

// ErrNoRoute is the system's answer that a destination can not be reached.
var ErrNoRoute = errors.New("no route")

// errBroadcast is for an address that a peer has, and that here stands for everybody in a subnet. Nothing can be connected to it.
var errBroadcast = fmt.Errorf("%w but to everybody in a subnet", ErrNoRoute)

// Qualities of the policy route.
const (
	directOneSubnet   = 100
	directOnLink      = 95 // by a route of its own, not by the address's subnet
	directPublic      = 90 // one subnet of public addresses
	directPublicLink  = 85
	directLinkLocal   = 60 // every link has the same subnet
	gatewayPrivate    = 50
	gatewayPublic     = 45
	gatewayTwoClasses = 25 // private to public or back: there may be a translator between
)

// RoutePolicy judges by the route from the local to the remote address:
//
//	100  direct, one subnet
//	 95  direct, by a route to another subnet
//	 90  direct, one subnet of public addresses
//	 85  direct, by a route to another subnet, one or both addresses public
//	 60  direct, link-local
//	 50  by a gateway or a point-to-point link, both private
//	 45  the same, both public
//	 25  the same, a private and a public address
//	  0  by another interface than the local address's, or no route
//
// An address on the loopback interface or a dummy, but for the loopback addresses, goes by any interface. Where a route has several next
// hops that of any of their interfaces may go by it.
//
// Data may go in the clear: the policy does not know whether the transport encrypts it. So
// public addresses serve only where no private ones join the hosts as directly; they are
// spare otherwise.
//
// A nil lookup asks the running system. If that fails, for another reason than that
// there is no route, the classes of the addresses decide, in the same order: 100 or 90
// in one subnet, 50 or 45 in different ones, 0 for a private and a public address.
func RoutePolicy(lookup Lookup) Policy { return routePolicy{lookup} }

type routePolicy struct{ lookup Lookup }

func (routePolicy) Name() string { return "route" }

func (p routePolicy) Score(local, remote Address, sameNetwork bool) (int, string) {
	if p.lookup == nil {
		opened, done := p.open()
		defer done()
		return opened.Score(local, remote, sameNetwork)
	}
	from, to := local.Addr(), remote.Addr()
	switch relate(local, remote) {
	case loopbacks:
		return directOneSubnet, "loopback"
	case linkLocals:
		return directLinkLocal, "direct, link-local"
	case linkLocalAndGlobal:
		return 0, relationWords[linkLocalAndGlobal]
	}
	route, err := p.lookup(from, to)
	if errors.Is(err, errBroadcast) {
		return 0, "the kernel takes it for the address of all of a subnet: the hosts state subnets of different sizes"
	}
	if errors.Is(err, ErrNoRoute) {
		return 0, "the kernel has no route"
	}
	if err != nil {
		quality, why := unrouted.Score(local, remote, sameNetwork)
		return quality, fmt.Sprintf("%s (routes can not be read: %v)", why, err)
	}
	return scoreRoute(local, remote, route, sameNetwork)
}

// scoreRoute is the policy's table.
func scoreRoute(local, remote Address, route Route, sameNetwork bool) (int, string) {
	tunnel := local.Flags&PointToPoint != 0 // its far end may pass packets on
	via := "through a point-to-point link"
	if route.Gateway.IsValid() {
		via = "by gateway " + route.Gateway.String()
	}
	switch {
	case route.Local && sameNetwork:
		return directOneSubnet, "an address of this host"
	case route.Local:
		return 0, "this host holds the address itself"
	case route.Interface != local.Index && !slices.Contains(route.Hops, local.Index) && !local.ofHost():
		return 0, fmt.Sprintf("the kernel sends it out by %s, not by %s", route.exit(), local.Interface)
	}
	ours, theirs := isPrivate(local.Addr()), isPrivate(remote.Addr())
	choose := func(private, public int) int {
		if ours && theirs {
			return private
		}
		return public
	}
	switch {
	case !route.Gateway.IsValid() && sameSubnet(local.Prefix, remote.Prefix):
		return choose(directOneSubnet, directPublic), "direct route"
	case !route.Gateway.IsValid() && !tunnel:
		return choose(directOnLink, directPublicLink), "direct route to another subnet"
	case ours == theirs:
		return choose(gatewayPrivate, gatewayPublic), via
	}
	return gatewayTwoClasses, via + ", a private and a public address"
}

// unrouted judges a pair if routes can not be read.
var unrouted = byRelation{"route", [relations]int{
	privateSame: directOneSubnet, publicSame: directPublic, privateDifferent: gatewayPrivate, publicDifferent: gatewayPublic,
	linkLocals: directLinkLocal, loopbacks: directOneSubnet,
}}

// privateFirst marks a policy that prefers private addresses among pairs that are equally direct.
func (routePolicy) privateFirst() {}

// exit names the interface that the route leaves by.
func (r Route) exit() string {
	if r.Name == "" {
		return fmt.Sprintf("interface %d", r.Interface)
	}
	return r.Name
}

// isPrivate reports whether only a part of the world can reach an address: RFC
// 1918, RFC 3927, RFC 4193 (unique local), RFC 6598 (carriers' translators).
func isPrivate(a netip.Addr) bool {
	return a.IsPrivate() || a.IsLinkLocalUnicast() || sharedSpace.Contains(a)
}

var sharedSpace = netip.MustParsePrefix("100.64.0.0/10")

// open prepares the policy for many questions.
func (p routePolicy) open() (Policy, func()) {
	if p.lookup != nil {
		return p, func() {}
	}
	lookup, done := kernelLookup()
	return routePolicy{lookup}, done
}
