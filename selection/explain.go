package selection

import (
	"fmt"
	"slices"
)

// explain puts a choice into words: the rails first, then what was left out.
func explain(c Choice, offers []Offer, exclusivity int) []string {
	rails := c.Rails
	reasons := make([]string, 0, len(rails)+len(offers))
	for i, r := range rails {
		reasons = append(reasons, r.String()+": "+role(i, r, len(rails)))
	}
	for _, r := range c.Standby {
		if r.spare() {
			reasons = append(reasons, r.String()+": spare, for when no other path of "+r.Attr.Name+" is connected")
		}
	}
	for _, o := range offers {
		switch {
		case !o.serves():
			reasons = append(reasons, fmt.Sprintf("%s: not used: %s", o.name(), o.refusal()))
		case o.exclusivity() < exclusivity:
			role := "not used"
			if slices.ContainsFunc(c.Standby, func(r Rail) bool { return r.Module == o.Module }) {
				role = "stands by"
			}
			reasons = append(reasons, fmt.Sprintf("%s: %s: its exclusivity %d is below %d, that of %s",
				o.name(), role, o.exclusivity(), exclusivity, rails[0].Attr.Name))
		}
	}
	return reasons
}

// role says what the i-th of n rails carries and why.
func role(i int, r Rail, n int) string {
	if n == 1 {
		return "carries everything, being the only path"
	}
	long := fmt.Sprintf("%.3g %% of long messages (%s)", 100*r.Weight, megabits(r))
	if i > 0 {
		return "carries " + long
	}
	why := "no latency is known"
	if r.Latency > 0 {
		why = fmt.Sprintf("no rail has a lower latency than its %v", r.Latency)
	}
	return "carries control and short messages (" + why + ") and " + long
}

func megabits(r Rail) string {
	if r.Bandwidth == 0 {
		return "bandwidth unknown, counted as the slowest"
	}
	return fmt.Sprintf("%d Mbit/s", r.Bandwidth)
}
