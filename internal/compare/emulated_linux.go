package compare

import (
	"strconv"

	"github.com/strandmp/strand/internal/compare/results"
	"github.com/strandmp/strand/internal/emulate"
	"github.com/strandmp/strand/internal/emulate/network"
)

// Emulated builds a network for each run. This process must be one that may
// (package netspace).
type Emulated struct{}

// Links implements [Ground].
func (Emulated) Links() results.Links { return results.Links{Kind: results.UserSpace} }

// Offer implements [Ground].
func (Emulated) Offer(link emulate.Link) (*emulate.Link, string) { return &link, "" }

// Facts implements [Ground]: package network has switched the offloads off.
func (Emulated) Facts(mtu int) map[string]string {
	return map[string]string{results.FactMTU: strconv.Itoa(mtu), results.FactOffloads: "off"}
}

// Open implements [Ground].
func (Emulated) Open(c Conditions) (Site, error) {
	n, err := network.New(network.Config{Hosts: c.Ranks, Link: c.Link, Seed: c.Seed, MTU: c.MTU})
	if err != nil {
		return nil, err
	}
	return hosts{n}, nil
}

// hosts are a network, each host of which has a rank.
type hosts struct{ *network.Network }

func (h hosts) Prefix() func(int) []string {
	return func(rank int) []string { return h.Host(rank).Prefix() }
}

func (h hosts) Close() (*results.Network, error) {
	r, err := h.Network.Close()
	return &results.Network{Counters: r.Total, Spoilt: r.Wire.Spoilt(), LateSeconds: r.Wire.Late99.Seconds()}, err
}
