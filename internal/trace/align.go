package trace

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// A Clock says how the clock of a host is brought to that of rank 0's host.
type Clock struct {
	Host string `json:"host"`
	// At 0 of the host's clock that of the first host has shown Offset; Rate is by how much more of it
	// passes meanwhile.
	Offset int64   `json:"offset_ns"`
	Rate   float64 `json:"rate"`
	// Bound is how wrong that may be, in ns. 0: it is the first host; negative: not known, there were
	// no messages in both directions, and calendars were believed.
	Bound int64 `json:"bound_ns"`
	Known bool  `json:"known"` // by messages
}

// Time is a time of the host by the clock of the first one.
func (c *Clock) Time(t int64) int64 { return t + c.Offset + int64(c.Rate*float64(t)) }

// Text says how good the clock is.
func (c *Clock) Text() string {
	if !c.Known {
		return fmt.Sprintf("host %s: its clock may be off by any amount: no messages in both directions say more, and so the calendars of the hosts are believed", c.Host)
	}
	return fmt.Sprintf("host %s: its clock is right within %v: no message is received before it is sent", c.Host, time.Duration(c.Bound).Round(time.Microsecond))
}

// evidence is what messages between two hosts say: a message that was sent at one time has arrived at
// another one, by the clocks of their hosts. So the difference of the clocks is at least, or at most,
// so much.
type evidence struct {
	least, most []limit

	clock *Clock // what solve has found
	ok    bool
}

// A limit of the difference at a time.
type limit struct{ at, difference float64 }

// align returns the clocks of all hosts, the first one first. It brings a host to one that is
// known already, and begins with the pair that is known best.
func align(ranks []*Rank, all []*history) []Clock {
	clocks := []Clock{}
	index := make(map[string]int)
	calendars := []int64{}
	for _, r := range ranks {
		if _, known := index[r.Host]; !known {
			index[r.Host] = len(clocks)
			clocks = append(clocks, Clock{Host: r.Host, Bound: -1})
			calendars = append(calendars, r.Calendar)
		}
	}
	if len(clocks) == 0 {
		return clocks
	}
	clocks[0].Bound, clocks[0].Known = 0, true
	pairs := gather(ranks, all, index)
	done := map[int]bool{0: true}
	for len(done) < len(clocks) {
		best, at := Clock{Bound: math.MaxInt64}, -1
		for from := range done {
			for to := range clocks {
				e := pairs[[2]int{from, to}]
				if done[to] || e == nil || !clocks[from].Known {
					continue
				}
				c, ok := e.solved()
				if c.Bound += clocks[from].Bound; ok && c.Bound < best.Bound {
					// Two steps: to the clock of from, and then to the first one.
					base := clocks[from]
					c.Rate += base.Rate * (1 + c.Rate)
					c.Offset = base.Time(c.Offset)
					best, at = c, to
				}
			}
		}
		if at < 0 { // the rest by the calendars
			for to := range clocks {
				if !done[to] {
					clocks[to].Offset, done[to] = calendars[to]-calendars[0], true
				}
			}
			break
		}
		best.Host, best.Known = clocks[at].Host, true
		clocks[at], done[at] = best, true
	}
	return clocks
}

// gather collects what messages say about each pair of hosts, both ways around.
func gather(ranks []*Rank, all []*history, index map[string]int) map[[2]int]*evidence {
	type sender struct {
		host int
		at   int64
	}
	sent := make(map[message]sender)
	for i, h := range all {
		for _, s := range h.spans {
			if s.class == send {
				sent[s.key(ranks[i].Rank)] = sender{index[ranks[i].Host], s.begin}
			}
		}
	}
	pairs := make(map[[2]int]*evidence)
	of := func(from, to int) *evidence {
		e := pairs[[2]int{from, to}]
		if e == nil {
			e = new(evidence)
			pairs[[2]int{from, to}] = e
		}
		return e
	}
	for i, h := range all {
		to := index[ranks[i].Host]
		for _, s := range h.spans {
			from, known := sent[s.key(ranks[i].Rank)]
			if s.class != receive || !s.bound || !known || from.host == to {
				continue
			}
			// By its own clock the receiver has the message at came. By the sender's that is later than at.
			d := float64(from.at - s.came())
			e, back := of(from.host, to), of(to, from.host)
			e.least = append(e.least, limit{float64(s.came()), d})
			back.most = append(back.most, limit{float64(from.at), -d})
		}
	}
	return pairs
}

// mostDrift is by how much clocks of two hosts may run differently.
const mostDrift = 500e-6

// solved is solve, once.
func (e *evidence) solved() (Clock, bool) {
	if e.clock == nil {
		c, ok := e.solve()
		e.clock, e.ok = &c, ok
	}
	return *e.clock, e.ok
}

// solve finds the clock that keeps as far as possible from all limits, and how wrong it may be: by how much another one
// that keeps all limits differs from it between the first message and the last.
func (e *evidence) solve() (Clock, bool) {
	if len(e.least) == 0 || len(e.most) == 0 {
		return Clock{}, false
	}
	e.least, e.most = hull(e.least, 1), hull(e.most, -1)
	rate := 0.0 // without drift, if that will do
	if e.width(rate) < 0 {
		rate = peak(-mostDrift, mostDrift, e.width)
	}
	low, high := e.room(rate)
	middle := (low + high) / 2
	c := Clock{Offset: int64(middle), Rate: rate}
	if high < low { // nothing fits: it is wrong by that much
		c.Bound = int64((low-high)/2) + 1
		return c, true
	}
	slowest, fastest := e.edge(rate, -mostDrift), e.edge(rate, mostDrift)
	worst := 0.0
	for _, at := range e.ends() {
		up := peak(slowest, fastest, func(rate float64) float64 { _, high := e.room(rate); return high + rate*at })
		down := peak(slowest, fastest, func(rate float64) float64 { low, _ := e.room(rate); return -low - rate*at })
		_, most := e.room(up)
		least, _ := e.room(down)
		worst = max(worst, most+up*at-middle-rate*at, middle+rate*at-least-down*at)
	}
	c.Bound = int64(worst) + 1
	return c, true
}

// peak returns where a concave function is greatest.
func peak(from, to float64, f func(float64) float64) float64 {
	for range 80 {
		a, b := from+(to-from)/3, to-(to-from)/3
		if f(a) < f(b) {
			from = a
		} else {
			to = b
		}
	}
	return (from + to) / 2
}

// edge returns the last rate on the way from one that fits that fits too.
func (e *evidence) edge(fits, to float64) float64 {
	if e.width(to) >= 0 {
		return to
	}
	for range 60 {
		if middle := (fits + to) / 2; e.width(middle) >= 0 {
			fits = middle
		} else {
			to = middle
		}
	}
	return fits
}

// ends are the times of the first and the last message.
func (e *evidence) ends() [2]float64 {
	first, last := e.least[0].at, e.least[0].at
	for _, limits := range [][]limit{e.least, e.most} {
		first, last = min(first, limits[0].at), max(last, limits[len(limits)-1].at)
	}
	return [2]float64{first, last}
}

// hull keeps the limits that may matter: those on the upper side of all (1), or on the lower one (-1). They
// are in the order of their times.
func hull(all []limit, side float64) []limit {
	slices.SortFunc(all, func(a, b limit) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.difference, b.difference)) })
	var kept []limit
	for _, l := range all {
		for n := len(kept); n >= 2; n = len(kept) {
			a, b := kept[n-2], kept[n-1]
			if turn := (b.at-a.at)*(l.difference-a.difference) - (b.difference-a.difference)*(l.at-a.at); turn*side < 0 {
				break
			}
			kept = kept[:n-1]
		}
		kept = append(kept, l)
	}
	return kept
}

// room is between which differences at time 0 the clock may be, if it drifts by rate.
func (e *evidence) room(rate float64) (low, high float64) {
	low, high = math.Inf(-1), math.Inf(1)
	for _, l := range e.least {
		low = max(low, l.difference-rate*l.at)
	}
	for _, l := range e.most {
		high = min(high, l.difference-rate*l.at)
	}
	return low, high
}

func (e *evidence) width(rate float64) float64 {
	low, high := e.room(rate)
	return high - low
}
