package pml

import (
	"cmp"
	"time"
)

// crowdMost is the longest message that is sent at once where ranks of one machine outnumber its processors. Who is to receive it mostly has
// none, and a longer one would be copied twice, the first time into memory that may be new, by processors of which there are too few.
const crowdMost = 64 << 10

// nearby is the highest latency of a path within a machine.
const nearby = 10 * time.Microsecond

// near reports whether the rail's path is within this machine.
func (r *rail) near() bool {
	latency := cmp.Or(r.path.Latency, r.attr.Latency)
	return latency > 0 && latency <= nearby
}

// mostAtOnce is the longest message sent at once, whatever the transport allows, if nothing is known of its receive.
func (r *rail) mostAtOnce() int {
	if r.pml.engine.Crowded() && r.near() {
		return r.pml.tune.eagerCrowd
	}
	return r.pml.tune.eagerMax
}
