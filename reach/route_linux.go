package reach

import (
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/vishvananda/netlink"
	"golang.org/x/sys/unix"
)

// kernelLookup returns a lookup in the routing tables of the calling thread's
// network namespace, and a function that ends it.
func kernelLookup() (Lookup, func()) {
	handle, err := netlink.NewHandle(unix.NETLINK_ROUTE)
	if err != nil {
		err = fmt.Errorf("opening a netlink socket: %w", err)
		return func(netip.Addr, netip.Addr) (Route, error) { return Route{}, err }, func() {}
	}
	lookup := func(from, to netip.Addr) (Route, error) {
		routes, err := handle.RouteGetWithOptions(net.IP(to.AsSlice()), &netlink.RouteGetOptions{SrcAddr: net.IP(from.AsSlice())})
		switch {
		case saysNoRoute(err), err == nil && len(routes) == 0:
			return Route{}, ErrNoRoute
		case err != nil:
			return Route{}, fmt.Errorf("asking the kernel for the route from %v to %v: %w", from, to, err)
		}
		return routeOf(routes[0]), nil
	}
	return lookup, handle.Close
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
