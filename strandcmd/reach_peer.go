package strandcmd

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/strandmp/strand/reach"
)

// nameTimeout is how long the name service has to answer.
const nameTimeout = 10 * time.Second

// peerSide finds out what there is to know of a peer: everything from its blob,
// little from its name.
func peerSide(ctx context.Context, peer string, local reach.Side) (reach.Side, error) {
	if reach.IsText(peer) {
		var side reach.Side
		if err := side.UnmarshalText([]byte(strings.TrimSpace(peer))); err != nil {
			return reach.Side{}, usageError{fmt.Errorf("--peer: %w; copy all that strand reach --blob prints there", err)}
		}
		return side, nil
	}
	ctx, cancel := context.WithTimeout(ctx, nameTimeout)
	defer cancel()
	ips, err := net.DefaultResolver.LookupNetIP(ctx, "ip", peer)
	if err != nil {
		return reach.Side{}, fmt.Errorf("--peer %s: %w; give an address, or what strand reach --blob prints there", peer, plainLookupError(err))
	}
	return sideOfAddresses(peer, ips, local), nil
}

// plainLookupError leaves out the name, which the caller states.
func plainLookupError(err error) error {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		return errors.New(lookup.Err)
	}
	return err
}

// sideOfAddresses makes a peer of bare addresses. If one of them is ours, the peer is this very
// host.
func sideOfAddresses(name string, ips []netip.Addr, local reach.Side) reach.Side {
	side := reach.Side{}
	for i, ip := range ips {
		ip = ip.Unmap().WithZone("")
		for _, a := range local.Addresses {
			if ip.IsLoopback() || a.Addr() == ip {
				return local
			}
		}
		side.Addresses = append(side.Addresses, reach.Address{Prefix: assumedPrefix(ip, local), Interface: name, Index: i + 1})
	}
	return side
}

// assumedPrefix assumes that the peer has the mask of our address in its subnet. If we have no
// such address, the peer is alone in its subnet.
func assumedPrefix(ip netip.Addr, local reach.Side) netip.Prefix {
	bits := ip.BitLen()
	for _, a := range local.Addresses {
		if a.Prefix.Bits() > 0 && a.Prefix.Contains(ip) {
			bits = a.Prefix.Bits()
			break
		}
	}
	return netip.PrefixFrom(ip, bits)
}
