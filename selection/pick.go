package selection

import (
	"cmp"
	"math"
	"slices"

	"github.com/strandmp/strand/btl"
)

// A Choice says how a peer is served.
type Choice struct {
	// Rails in the order of preference for control frames and short messages:
	// lowest latency first. There is at least one.
	Rails []Rail
	// Standby are the paths that take over when no rail leads to the peer any more, in the
	// order in which they are tried. The spare paths of the modules that serve the peer are
	// among them. None is connected before.
	Standby []Rail
	// Reasons say, a sentence each, why every rail is used and why every other
	// module is not.
	Reasons []string
}

// Pick chooses among the offers for a peer; rank is the process's own. The
// order of the offers has no meaning as long as they can be told apart. If none
// of them serves the peer the error is an [*UnreachableError].
func Pick(rank int, peer btl.Peer, offers []Offer) (Choice, error) {
	offers = slices.Clone(offers)
	slices.SortStableFunc(offers, func(a, b Offer) int { return cmp.Compare(a.name(), b.name()) })

	exclusivity, served := highestExclusivity(offers)
	if !served {
		return Choice{}, unreachable(rank, peer, offers)
	}
	var c Choice
	for _, o := range offers {
		chosen := o.serves() && o.exclusivity() == exclusivity
		if !chosen && (!o.serves() || !o.StandsBy) {
			continue
		}
		rails, spares := o.rails()
		if chosen {
			c.Rails = append(c.Rails, rails...)
		} else {
			c.Standby = append(c.Standby, rails...)
		}
		c.Standby = append(c.Standby, spares...)
	}
	slices.SortStableFunc(c.Rails, byPreference)
	weigh(c.Rails)
	if unbreakable(c.Rails) {
		c.Standby = nil
	}
	slices.SortStableFunc(c.Standby, byTurn)
	weigh(c.Standby)
	c.Reasons = explain(c, offers, exclusivity)
	return c, nil
}

// unbreakable reports whether one of the rails can not break while the peer lives. Then nothing
// has to stand by.
func unbreakable(rails []Rail) bool {
	return slices.ContainsFunc(rails, func(r Rail) bool { return r.Attr.Unbreakable })
}

// byTurn orders standby paths: first by exclusivity; spare paths come behind the others of the
// same exclusivity, in the order of their weights.
func byTurn(a, b Rail) int {
	if c := cmp.Or(cmp.Compare(b.Attr.Exclusivity, a.Attr.Exclusivity), compareBool(a.spare(), b.spare())); c != 0 {
		return c
	}
	if a.spare() {
		return cmp.Or(cmp.Compare(b.Path.Weight, a.Path.Weight), byPreference(a, b))
	}
	return byPreference(a, b)
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}

func (r Rail) spare() bool { return r.Path.Spare != btl.NotSpare }

// Join adds a rail that the peer has connected over a path that only the peer knew. The offer has
// that one path. Join returns the rail's place in Rails; the weights of all rails change.
func (c *Choice) Join(o Offer, reason string) int {
	rails, spares := o.rails()
	r := append(rails, spares...)[0]
	at, _ := slices.BinarySearchFunc(c.Rails, r, byPreference)
	c.Rails = slices.Insert(slices.Clone(c.Rails), at, r)
	weigh(c.Rails)
	c.Reasons = append(slices.Clone(c.Reasons), reason)
	return at
}

// highestExclusivity is that of the offers that serve the peer. Served is false if none does.
func highestExclusivity(offers []Offer) (highest int, served bool) {
	for _, o := range offers {
		if !o.serves() {
			continue
		}
		if e := o.exclusivity(); !served || e > highest {
			highest, served = e, true
		}
	}
	return highest, served
}

// byPreference orders rails for control frames and short messages: by latency,
// an unknown one last; then, so that the order is the same everywhere, by
// bandwidth, by the module's own opinion of the path and by name.
func byPreference(a, b Rail) int {
	return cmp.Or(
		cmp.Compare(unknownLast(int64(a.Latency)), unknownLast(int64(b.Latency))),
		cmp.Compare(b.Bandwidth, a.Bandwidth),
		cmp.Compare(b.Path.Weight, a.Path.Weight),
		cmp.Compare(a.Attr.Name, b.Attr.Name),
		cmp.Compare(a.Path.Index, b.Path.Index),
		cmp.Compare(a.Path.Desc, b.Path.Desc),
	)
}

func unknownLast(v int64) int64 {
	if v == 0 {
		return math.MaxInt64
	}
	return v
}

// weigh sets each rail's share of a long message: in proportion to its bandwidth and, among the
// paths of one module, to the weights that the module gives them. A path by a gateway thus gets
// less than a direct one of the same speed. A rail whose bandwidth is not known counts as the
// slowest known one. Too small a share does little harm, since the scheduler gives the next piece
// to a rail that is free; one piece too many on a slow rail delays the whole message.
func weigh(rails []Rail) {
	slowest := 0
	for _, r := range rails {
		if r.Bandwidth > 0 && (slowest == 0 || r.Bandwidth < slowest) {
			slowest = r.Bandwidth
		}
	}
	slowest = max(slowest, 1)
	best := make(map[btl.Module]float64) // the module's highest weight per Mbit/s
	for i := range rails {
		r := &rails[i]
		r.Weight = float64(known(r.Bandwidth, slowest))
		best[r.Module] = max(best[r.Module], opinion(r.Path)/r.Weight)
	}
	sum := 0.0
	for i := range rails {
		r := &rails[i]
		if most := best[r.Module]; opinion(r.Path) > 0 && most > 0 {
			r.Weight = max(opinion(r.Path)/most, leastShare)
		}
		sum += r.Weight
	}
	for i := range rails {
		rails[i].Weight /= sum
	}
}

// leastShare keeps the share of a path above 0, however little its module thinks of it. Others are some Mbit/s.
const leastShare = 1e-12

// opinion is the weight that a module gives a path; 0 if that is no number to reckon with.
func opinion(p btl.Path) float64 {
	if p.Weight > 0 && p.Weight <= math.MaxFloat64 {
		return p.Weight
	}
	return 0
}
