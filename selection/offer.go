package selection

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/strandmp/strand/btl"
)

// An Offer is what one module, asked for a peer, answers.
type Offer struct {
	// Module that answers; nil stands for a component that could not open one.
	Module btl.Module
	// Component is the name to show when Module is nil.
	Component string
	// Paths to the peer. No path means that the module can not serve it.
	Paths []btl.Path
	// Refusal says why there is no path.
	Refusal error
	// Overrides are the module's attributes that the user has set.
	Overrides Overrides
	// StandsBy says that the module may take over when those that were chosen
	// instead of it have all failed.
	StandsBy bool
}

// name is what people know the module by.
func (o Offer) name() string {
	if o.Module == nil {
		return o.Component
	}
	return o.Module.Attr().Name
}

// exclusivity is the module's, or what the user has set in its place.
func (o Offer) exclusivity() int { return o.Overrides.Attr(o.Module.Attr()).Exclusivity }

// serves reports whether the module serves the peer. Spare paths alone do not count.
func (o Offer) serves() bool {
	return o.Module != nil && slices.ContainsFunc(o.Paths, func(p btl.Path) bool { return p.Spare == btl.NotSpare })
}

// refusal returns the reason in words. Whoever shows it says the module's name
// first, so the reason does not repeat it.
func (o Offer) refusal() string {
	unavailable, isUnavailable := errors.AsType[*btl.UnavailableError](o.Refusal)
	switch {
	case isUnavailable && unavailable.Remedy != "":
		return fmt.Sprintf("not available: %s (%s)", unavailable.Reason, unavailable.Remedy)
	case isUnavailable:
		return "not available: " + unavailable.Reason
	case o.Refusal != nil:
		return strings.TrimPrefix(o.Refusal.Error(), o.name()+": ")
	case o.Module == nil:
		return "not available"
	}
	return "offers no path"
}

// A Rail is one path that serves a peer.
type Rail struct {
	Module btl.Module
	// Attr is the module's with the overrides, kept so that nobody asks for
	// it per message.
	Attr btl.Attr
	Path btl.Path
	// Bandwidth, in Mbit/s, and Latency are the path's or, where the path does
	// not know, the module's; 0 if neither does.
	Bandwidth int
	Latency   time.Duration
	// Weight is the share of a long message that goes this way. It is above 0,
	// and the weights of all rails to a peer add up to 1.
	Weight float64
}

// rails makes a rail of each path. Those of spare paths are apart.
func (o Offer) rails() (rails, spares []Rail) {
	attr := o.Overrides.Attr(o.Module.Attr())
	for _, p := range o.Overrides.paths(o.Paths) {
		list := &rails
		if p.Spare != btl.NotSpare {
			list = &spares
		}
		*list = append(*list, Rail{
			Module:    o.Module,
			Attr:      attr,
			Path:      p,
			Bandwidth: known(p.Bandwidth, attr.Bandwidth),
			Latency:   known(p.Latency, attr.Latency),
		})
	}
	return rails, spares
}

// known returns the first value that is not 0, or 0.
func known[T int | time.Duration](values ...T) T {
	for _, v := range values {
		if v > 0 {
			return v
		}
	}
	return 0
}

// String names the rail for people.
func (r Rail) String() string {
	if r.Path.Desc == "" {
		return r.Attr.Name
	}
	return r.Attr.Name + " " + r.Path.Desc
}
