package selection

import (
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
)

// Overrides are the attributes of a transport that the user has set in the place of its own:
// exclusivity, bandwidth and latency. Every transport has the parameters, whoever has written
// it, and they are named as in Open MPI. "SCTP first, TCP where that fails" is
// btl_sctp_exclusivity=101.
//
// The zero value overrides nothing.
type Overrides struct {
	ranked      bool // exclusivity is set
	exclusivity int
	bandwidth   int // Mbit/s
	latency     time.Duration
}

// Declare adds a transport's parameters of this kind to a registry.
func Declare(r *param.Registry, transport string) {
	prefix := "btl_" + transport + "_"
	r.Declare(
		param.Spec{Name: prefix + "exclusivity", Kind: param.Int, Default: "-1", Min: "-1", Max: "1000000", Level: param.Tuner,
			Help: "Of the transports that reach a peer, those of the highest exclusivity serve it, together if they are equal. The others may stand by (pml_failover). -1: the transport's own, which strand info shows."},
		param.Spec{Name: prefix + "bandwidth", Kind: param.Int, Default: "0", Min: "0", Max: "100000000", Unit: "Mbit/s", Level: param.Tuner,
			Help: "Bandwidth that each network counts as having; long messages are shared in proportion to it. 0: what the system reports, else the transport's own."},
		param.Spec{Name: prefix + "latency", Kind: param.Duration, Default: "0s", Min: "0s", Max: "1h", Level: param.Tuner,
			Help: "Latency that the transport counts as having; of several rails the one with the lowest carries short messages. 0: the transport's own."},
	)
}

// OverridesFrom reads the overrides of a transport from the parameters.
func OverridesFrom(v *param.Values, transport string) Overrides {
	prefix := "btl_" + transport + "_"
	exclusivity := v.Int(prefix + "exclusivity")
	return Overrides{
		ranked: exclusivity >= 0, exclusivity: exclusivity,
		bandwidth: v.Int(prefix + "bandwidth"),
		latency:   v.Duration(prefix + "latency"),
	}
}

// Attr returns a module's attributes with the overrides in their places.
func (o Overrides) Attr(a btl.Attr) btl.Attr {
	if o.ranked {
		a.Exclusivity = o.exclusivity
	}
	if o.bandwidth > 0 {
		a.Bandwidth = o.bandwidth
	}
	if o.latency > 0 {
		a.Latency = o.latency
	}
	return a
}

// paths returns an offer's paths with the overrides in their places. A bandwidth is divided
// among parallel paths, which share a network. It also takes the place of what the module thinks of the
// paths that serve, since messages would be shared by that. Spare paths are tried in the order of it.
func (o Overrides) paths(paths []btl.Path) []btl.Path {
	if o.bandwidth == 0 && o.latency == 0 {
		return paths
	}
	links := make(map[int]int) // by bundle
	for _, p := range paths {
		links[p.Bundle]++
	}
	taken := slices.Clone(paths)
	for i := range taken {
		p := &taken[i]
		if o.latency > 0 {
			p.Latency = o.latency
		}
		if o.bandwidth > 0 && p.Bundle > 0 {
			p.Bandwidth = max(o.bandwidth/links[p.Bundle], 1)
		} else if o.bandwidth > 0 {
			p.Bandwidth = o.bandwidth
		}
		if o.bandwidth > 0 && p.Spare == btl.NotSpare {
			p.Weight = 0
		}
	}
	return taken
}
