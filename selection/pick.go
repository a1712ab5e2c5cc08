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
	// Standby are paths that take over, the first ones first, when no rail leads to
	// the peer any more, spare paths of the modules that serve it among them. Nobody
	// connects them before.
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

// unbreakable reports whether one of the rails works as long as the peer lives, so
// that nothing has to stand by.
func unbreakable(rails []Rail) bool {
	return slices.ContainsFunc(rails, func(r Rail) bool { return r.Attr.Local })
}

// byTurn orders what stands by: as it would have been chosen; spare paths behind the
// others of their exclusivity, by their modules' opinion of them.
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

// Join adds a rail that nobody chose: it goes over the offer's one path, which only
// the peer knew. It returns the rail's place in Rails; the shares of all of them change.
func (c *Choice) Join(o Offer, reason string) int {
	rails, spares := o.rails()
	r := append(rails, spares...)[0]
	at, _ := slices.BinarySearchFunc(c.Rails, r, byPreference)
	c.Rails = slices.Insert(slices.Clone(c.Rails), at, r)
	weigh(c.Rails)
	c.Reasons = append(slices.Clone(c.Reasons), reason)
	return at
}

// highestExclusivity looks at the offers that serve the peer.
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

// weigh shares out long messages in proportion to bandwidth, and of the paths of one
// module to what it thinks of them: one by a gateway gets less than a direct one of the
// same speed. A rail whose bandwidth nobody knows counts as the slowest known one: too
// little is made up for by the scheduler, which gives the next piece to whoever is
// free, whereas one piece too many on a slow rail delays the whole message.
func weigh(rails []Rail) {
	slowest := 0
	for _, r := range rails {
		if r.Bandwidth > 0 && (slowest == 0 || r.Bandwidth < slowest) {
			slowest = r.Bandwidth
		}
	}
	slowest = max(slowest, 1)
	best := make(map[btl.Module]float64) // opinion for each Mbit/s
	for i := range rails {
		r := &rails[i]
		r.Weight = float64(known(r.Bandwidth, slowest))
		best[r.Module] = max(best[r.Module], r.Path.Weight/r.Weight)
	}
	sum := 0.0
	for i := range rails {
		r := &rails[i]
		if r.Path.Weight > 0 {
			r.Weight = r.Path.Weight / best[r.Module]
		}
		sum += r.Weight
	}
	for i := range rails {
		rails[i].Weight /= sum
	}
}
