package reach

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// DefaultPolicy is the policy where the user names none.
const DefaultPolicy = "route"

// kernelLookup returns a lookup in the routing tables of the calling thread's
// network namespace, and a function that ends it.
func kernelLookup() (Lookup, func()) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		err = fmt.Errorf("opening a netlink socket: %w", err)
		return func(netip.Addr, netip.Addr) (Route, error) { return Route{}, err }, func() {}
	}
	k := kernel{handle, make(map[int]string)}
	return k.lookup, handle.Close
}

// A kernel answers for its network namespace.
type kernel struct {
	handle *netlink.Handle
	names  map[int]string // of interfaces, as far as they were asked for
}

func (k kernel) lookup(from, to netip.Addr) (Route, error) {
	options := &netlink.RouteGetOptions{SrcAddr: net.IP(from.AsSlice())}
	routes, err := k.handle.RouteGetWithOptions(net.IP(to.AsSlice()), options)
	switch {
	case saysNoRoute(err), err == nil && len(routes) == 0:
		return Route{}, ErrNoRoute
	case err != nil:
		return Route{}, fmt.Errorf("asking the kernel for the route from %v to %v: %w", from, to, err)
	}
	if routes[0].Type == unix.RTN_BROADCAST {
		return Route{}, errBroadcast
	}
	route := routeOf(routes[0])
	route.Name = k.name(route.Interface)
	if !route.Local { // next hops may be tunnels, which need no gateway
		route.Hops = k.hops(to, *options)
	}
	return route, nil
}

// hops returns the interfaces of a route's next hops, if it has several. By itself the kernel tells of one, which another flow from the same
// source need not take.
func (k kernel) hops(to netip.Addr, options netlink.RouteGetOptions) (all []int) {
	options.FIBMatch = true
	routes, err := k.handle.RouteGetWithOptions(net.IP(to.AsSlice()), &options)
	if err != nil || len(routes) == 0 {
		return nil // the one that it has told of has to do
	}
	for _, hop := range routes[0].MultiPath {
		all = append(all, hop.LinkIndex)
	}
	return all
}

// name returns the name of an interface, "" if it has gone.
func (k kernel) name(index int) string {
	name, ok := k.names[index]
	if !ok {
		if link, err := k.handle.LinkByIndex(index); err == nil {
			name = link.Attrs().Name
		}
		k.names[index] = name
	}
	return name
}

// saysNoRoute tells the answers of the routing tables from failures to ask them:
// a missing route, and routes of the types unreachable, prohibit and blackhole.
func saysNoRoute(err error) bool {
	return errors.Is(err, unix.ENETUNREACH) || errors.Is(err, unix.EHOSTUNREACH) ||
		errors.Is(err, unix.EACCES) || errors.Is(err, unix.EINVAL)
}

func routeOf(r netlink.Route) Route {
	route := Route{Interface: r.LinkIndex, Local: r.Type == unix.RTN_LOCAL}
	gateway := r.Gw
	if via, ok := r.Via.(*netlink.Via); ok && gateway == nil {
		gateway = via.Addr // a next hop of the other family, RFC 5549
	}
	if ip, ok := netip.AddrFromSlice(gateway); ok && !ip.IsUnspecified() {
		route.Gateway = ip.Unmap()
	}
	return route
}
