package reach

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/vishvananda/netlink"
)

// sixteen makes a host with sixteen cards, and returns it with a peer that has as
// many, one in each network of ours.
func sixteen() (local, remote Side, err error) {
	links := []link{{&netlink.Device{LinkAttrs: named("lo")}, nil}}
	remote.Network = Network{2}
	for i := range 16 {
		name := fmt.Sprintf("card%d", i)
		far := fmt.Sprintf("far%d", i)
		links = append(links,
			link{&netlink.Veth{LinkAttrs: named(name), PeerName: far}, []string{fmt.Sprintf("10.%d.0.1/24", i+1)}},
			link{&netlink.Device{LinkAttrs: named(far)}, nil})
		remote.Addresses = append(remote.Addresses, Address{
			Prefix: netip.MustParsePrefix(fmt.Sprintf("10.%d.0.2/24", i+1)), Interface: name, Index: i + 2, Speed: 10_000})
	}
	if err := build(links); err != nil {
		return local, remote, err
	}
	local, err = System()
	return local, remote, err
}

// BenchmarkMatchRoutes judges all pairs of two hosts with sixteen cards each, by the
// kernel's routes: what contact with a peer costs, the first on a host and those
// after it.
func BenchmarkMatchRoutes(b *testing.B) {
	for name, policy := range map[string]Policy{"first": RoutePolicy(nil), "again": Remember(RoutePolicy(nil))} {
		b.Run(name, func(b *testing.B) {
			inNamespace(b, func() error {
				local, remote, err := sixteen()
				if err != nil {
					return err
				}
				for b.Loop() {
					if r := Match(local, remote, policy); len(r.Pairs) != 16 {
						return fmt.Errorf("%d pairs: %v", len(r.Pairs), r)
					}
				}
				return nil
			})
		})
	}
}

// BenchmarkSystem reads what a host with sixteen cards has.
func BenchmarkSystem(b *testing.B) {
	inNamespace(b, func() error {
		_, _, err := sixteen()
		for b.Loop() && err == nil {
			_, err = System()
		}
		return err
	})
}
