//go:build !linux

package reach

import (
	"fmt"
	"net"
	"net/netip"
)

// readSystem knows no speeds here.
func readSystem() (Side, error) {
	interfaces, err := net.Interfaces()
	if err != nil {
		return Side{}, fmt.Errorf("listing the network interfaces: %w", err)
	}
	var all []Address
	for _, i := range interfaces {
		if i.Flags&net.FlagUp == 0 {
			continue
		}
		addrs, err := i.Addrs()
		if err != nil {
			continue // the interface has gone in the meantime
		}
		for _, addr := range addrs {
			n, ok := addr.(*net.IPNet)
			if !ok {
				continue
			}
			ip, _ := netip.AddrFromSlice(n.IP)
			bits, _ := n.Mask.Size()
			if ip = ip.Unmap(); usable(ip) {
				all = append(all, Address{Prefix: netip.PrefixFrom(ip, bits), Interface: i.Name, Index: i.Index, Flags: flagsOf(i.Flags)})
			}
		}
	}
	return Side{Addresses: all}, nil
}

func flagsOf(f net.Flags) Flags {
	var flags Flags
	if f&net.FlagRunning == 0 {
		flags |= NoCarrier
	}
	if f&net.FlagPointToPoint != 0 {
		flags |= PointToPoint | Tunnel
	}
	if f&net.FlagLoopback != 0 {
		flags |= Loopback
	}
	return flags
}
