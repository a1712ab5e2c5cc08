package compare

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/strandmp/strand/internal/lab/emulate"
	"github.com/strandmp/strand/internal/lab/network"
	"github.com/strandmp/strand/internal/lab/results"
	"github.com/strandmp/strand/internal/launcher/job"
)

// emulated builds a network for each run.
type emulated struct {
	backend network.Backend
	why     string // it is not netem
}

// backends are those of [Emulations].
var backends = map[string]network.Backend{"auto": network.Automatic, "netem": network.Netem, "user": network.UserSpace}

// Emulate returns the ground on which the networks of all cells, those of [Plan.Wanted], are
// emulated in the same way. To find out whether this process can have them it builds one after
// the other, until netem can not do one, or the context ends. Package netspace says which processes may. wanted is one
// of [Emulations].
func Emulate(ctx context.Context, cells [][]emulate.Network, mtu int, wanted string) (Ground, error) {
	backend, known := backends[wanted]
	if !known {
		return nil, fmt.Errorf("emulation %q: want one of %s", wanted, strings.Join(Emulations, ", "))
	}
	return sameForAll(cells, func(networks []emulate.Network) (network.Backend, string, error) {
		if ctx.Err() != nil {
			return "", "", context.Cause(ctx)
		}
		return tryNetwork(network.Config{Hosts: 2, Nets: nets(networks), MTU: mtu, Backend: backend})
	})
}

// nets are networks as they are built.
func nets(networks []emulate.Network) (all []network.Net) {
	for _, n := range networks {
		all = append(all, network.Net{Name: n.Name, Link: n.Link, Down: n.Down})
	}
	return all
}

// tryNetwork builds a network to find out which backend emulates it, and why that is not netem.
func tryNetwork(c network.Config) (b network.Backend, why string, err error) {
	n, err := network.New(c)
	if err != nil {
		return "", "", err
	}
	b, why = n.Backend()
	_, err = n.Close()
	return b, why, err
}

// sameForAll returns what emulates all cells alike: netem if it can do every one of them, else
// the user-space link. Each cell is tried as it was asked for, since success with one says
// nothing about the next.
func sameForAll[T any](cells []T, try func(T) (network.Backend, string, error)) (Ground, error) {
	e := emulated{}
	for _, c := range cells {
		backend, why, err := try(c)
		if err != nil {
			return nil, err
		}
		if e = (emulated{backend, why}); backend == network.UserSpace {
			break // then for all
		}
	}
	return e, nil
}

// Links implements [Ground].
func (e emulated) Links() results.Links {
	if e.backend == network.Netem {
		return results.Links{Kind: results.Netem}
	}
	return results.Links{Kind: results.UserSpace, Why: "not netem: " + e.why}
}

// Offer implements [Ground].
func (emulated) Offer(_ string, link emulate.Link) (*emulate.Link, string) { return &link, "" }

// Facts implements [Ground]: package network has switched the offloads off.
func (emulated) Facts(mtu int) map[string]string {
	return map[string]string{results.FactMTU: strconv.Itoa(mtu), results.FactOffloads: "off"}
}

// Open implements [Ground].
func (e emulated) Open(c Conditions) (Site, error) {
	n, err := network.New(network.Config{
		Hosts: c.Ranks, Link: c.Link, Nets: nets(c.Networks), Seed: c.Seed, MTU: c.MTU, Backend: e.backend,
	})
	if err != nil {
		return nil, err
	}
	return hosts{n, c.Networks != nil}, nil
}

// hosts are a network, or several that are told apart, each host of which has a rank.
type hosts struct {
	*network.Network
	several bool
}

func (h hosts) Place(c *job.Config) {
	c.Prefix = func(rank int) []string { return h.Host(rank).Prefix() }
}

func (h hosts) Close() (*results.Network, error) {
	r, err := h.Network.Close()
	told := &results.Network{
		Counters: r.Total, Spoilt: r.Wire.Spoilt(), LateSeconds: r.Wire.Late99.Seconds(), LateMeanSeconds: r.Wire.Mean.Seconds(),
	}
	for _, n := range r.Nets {
		if h.several {
			told.Networks = append(told.Networks, results.NetworkPart{Name: n.Name, Counters: n.Total, Seconds: n.Lived.Seconds(), Down: n.Down})
		}
	}
	return told, err
}
