package tcp

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
)

// systemAddresses lists the addresses of the interfaces that are up, in the
// system's order. Link-local IPv6 is left out: such an address means nothing
// without the interface of whoever connects to it.
func systemAddresses() ([]ifaddr, error) {
	nics, err := net.Interfaces()
	if err != nil {
		return nil, fmt.Errorf("listing the network interfaces: %w", err)
	}
	var all []ifaddr
	for _, nic := range nics {
		if nic.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := nic.Addrs()
		if err != nil {
			continue // the interface has gone in the meantime
		}
		for _, a := range addrs {
			n, ok := a.(*net.IPNet)
			if !ok {
				continue
			}
			ip, ok := netip.AddrFromSlice(n.IP)
			if !ok {
				continue
			}
			ip = ip.Unmap()
			if ip.Is6() && ip.IsLinkLocalUnicast() || ip.IsMulticast() || ip.IsUnspecified() {
				continue
			}
			bits, _ := n.Mask.Size()
			all = append(all, ifaddr{
				prefix: netip.PrefixFrom(ip, bits),
				index:  nic.Index, speed: linkSpeed(nic.Name), name: nic.Name,
			})
		}
	}
	return all, nil
}

// linkSpeed returns the Mbit/s that the driver of an interface states, 0 if it
// does not know (a virtual interface) or the system does not tell.
func linkSpeed(name string) int {
	b, err := os.ReadFile("/sys/class/net/" + name + "/speed")
	if err != nil {
		return 0
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// selectAddresses applies the user's choice to the addresses of the system.
func selectAddresses(all []ifaddr, c config) ([]ifaddr, error) {
	chosen := all
	var err error
	switch {
	case len(c.include) > 0:
		chosen, err = matching(all, c.include, c.includeWhere, true)
	case len(c.exclude) > 0:
		chosen, err = matching(all, c.exclude, c.excludeWhere, false)
	}
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && len(all) > 0 {
		where := c.excludeWhere
		if len(c.include) > 0 {
			where = c.includeWhere
		}
		return nil, fmt.Errorf("%s leaves no network to use; there are %s", where, describe(all))
	}
	chosen = limitInterfaces(chosen, c.maxInterfaces)
	return chosen[:min(len(chosen), maxIfaddrs)], nil
}

// matching returns the addresses that fit one of the patterns (keep), or none
// of them. A pattern that fits nothing is a mistake.
func matching(all []ifaddr, patterns []string, where string, keep bool) ([]ifaddr, error) {
	fits := make([]bool, len(all))
	for _, p := range patterns {
		match, err := parsePattern(p)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", where, err)
		}
		found := false
		for i, a := range all {
			if match(a) {
				fits[i], found = true, true
			}
		}
		if !found {
			return nil, fmt.Errorf("%s: no interface that is up fits %q; there are %s", where, p, describe(all))
		}
	}
	var chosen []ifaddr
	for i, a := range all {
		if fits[i] == keep {
			chosen = append(chosen, a)
		}
	}
	return chosen, nil
}

// parsePattern reads an interface name, a pattern of names, an address or a
// subnet.
func parsePattern(p string) (func(ifaddr) bool, error) {
	if strings.Contains(p, "/") {
		subnet, err := netip.ParsePrefix(p)
		if err != nil {
			return nil, fmt.Errorf("%q is neither an interface nor a subnet such as 10.8.0.0/16: %w", p, err)
		}
		subnet = subnet.Masked()
		return func(a ifaddr) bool { return subnet.Contains(a.prefix.Addr()) }, nil
	}
	if ip, err := netip.ParseAddr(p); err == nil {
		return func(a ifaddr) bool { return a.prefix.Addr() == ip }, nil
	}
	if _, err := path.Match(p, ""); err != nil {
		return nil, fmt.Errorf("%q is not a valid pattern of interface names: %w", p, err)
	}
	return func(a ifaddr) bool { ok, _ := path.Match(p, a.name); return ok }, nil
}

// limitInterfaces keeps the addresses of at most n interfaces besides the
// loopback, the fastest; 0 keeps all.
func limitInterfaces(addrs []ifaddr, n int) []ifaddr {
	if n == 0 {
		return addrs
	}
	var nics []ifaddr // one address of each interface
	for _, a := range addrs {
		same := func(b ifaddr) bool { return b.index == a.index }
		if !a.prefix.Addr().IsLoopback() && !slices.ContainsFunc(nics, same) {
			nics = append(nics, a)
		}
	}
	slices.SortStableFunc(nics, func(a, b ifaddr) int { return cmp.Compare(b.speed, a.speed) })
	if len(nics) > n {
		nics = nics[:n]
	}
	return slices.DeleteFunc(slices.Clone(addrs), func(a ifaddr) bool {
		same := func(b ifaddr) bool { return b.index == a.index }
		return !a.prefix.Addr().IsLoopback() && !slices.ContainsFunc(nics, same)
	})
}

// describe lists addresses for a message: "lo 127.0.0.1/8, eth0 10.8.47.1/24".
func describe(all []ifaddr) string {
	if len(all) == 0 {
		return "none"
	}
	parts := make([]string, len(all))
	for i, a := range all {
		parts[i] = a.name + " " + a.prefix.String()
	}
	return strings.Join(parts, ", ")
}
