package pml

import (
	"math"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/delivery"
)

// A frame that is sent at once takes one of several networks: the one that would else have
// nothing to do the soonest, so that all are kept busy. A network that takes longer for the
// frame than another one gets it only if nobody will wait for it: if all together need as
// long for what is under way and what waits, or if the stream has gone on for so long that it
// may be expected to go on (docs/decisions/0051-every-size-over-all-networks.md).

const (
	// alone is how many bytes the quickest network may have under way without the others being
	// looked at. So a message that is alone takes the quickest, and costs no call of the
	// system's.
	alone = 16 << 10
	// soon is how long, in nanoseconds, it may take to be done with what it has, likewise.
	soon = 100_000
	// glance is after how many bytes given to a rail it is asked anew what is under way.
	glance = 4 << 10
	// lasting is of how long a stream has lasted the part for which it is expected to go on. By
	// so much its end may be late.
	lasting = 1.0 / 32
	// wide is how many bytes are under way when the other networks are connected.
	wide = 64 << 10
	// foreseen is how many of the messages that wait are counted.
	foreseen = 64
)

// railNow is the rail for a frame, nil if the frame is to wait.
func (pe *peer) railNow(f *txFrame) *rail {
	n := f.Size
	r := pe.railOf(f.lane)
	if r == nil {
		return nil
	}
	if len(pe.networks) < 2 {
		if r.busy {
			return nil
		}
		return r
	}
	if r.accepts(n) && r.share.load()+n <= r.share.brief() {
		return r
	}
	return pe.sharedRail(f, pe.pml.engine.Now())
}

// sharedRail is railNow where the networks are compared. Where a send waits for the frame to be
// delivered, what comes behind it may wait too.
func (pe *peer) sharedRail(f *txFrame, now int64) *rail {
	n := f.Size
	pe.options = pe.optionsFor(pe.options[:0], f.lane, n, now)
	if f.lane >= btl.UrgentLane {
		return choose(pe.options, n)
	}
	most := fastest(pe.options)
	if most.load <= tail {
		pe.since = now // whatever was sent before has not kept it busy
	}
	foreseeable, expected := pe.foreseeable(pe.options, f), 0.0
	if !f.awaited() {
		expected = min(lasting*float64(now-pe.since), pe.ahead()/speedOf(pe.options))
	}
	for i := range pe.options {
		o := &pe.options[i]
		o.end = max(foreseeable, expected/(1+o.rail.share.hope)) // not both hopes at once
		if o.accepts && o.load <= tail && o.speed < most.speed && o.done(n) > o.end {
			o.rail.share.passOver(n)
		}
	}
	return choose(pe.options, n)
}

// accepts reports whether the rail is to be given a frame of n bytes now. Its transport copies
// short ones, which are none that it holds.
func (r *rail) accepts(n int) bool {
	if r.busy {
		return false
	}
	_, bytes := r.line.Holds()
	return n <= glance || bytes+n <= enough || r.hasRoom()
}

// brief is how many bytes the rail will be done with soon.
func (s *share) brief() int { return max(alone, int(min(soon*s.rate(), math.MaxInt32))) }

// An option is a network that a frame may take.
type option struct {
	rail    *rail
	load    float64 // bytes under way
	speed   float64 // bytes a nanosecond; of all the weight, as long as one is not known
	accepts bool    // the frame, now
	end     float64 // by when it has to be done with the frame
}

// done is when the network will be done with what it has and n bytes more.
func (o option) done(n int) float64 { return (o.load + float64(n)) / o.speed }

// optionsFor adds the networks for a frame.
func (pe *peer) optionsFor(options []option, lane, n int, now int64) []option {
	for _, net := range pe.networks {
		r := net.rail(lane)
		if r.share.given+n >= glance || now-r.share.at > soon {
			r.look(now)
		}
		load := r.share.load()
		if r.busy {
			load = max(load, enough) // whatever it says
		}
		options = append(options, option{r, float64(load), r.share.speed(), r.accepts(n), math.Inf(1)})
	}
	return comparable(options, n)
}

// comparable has all options, for n bytes, have a speed. One whose speed is not known gets enough to become
// known, and nothing more until it is, if another one's is known.
func comparable(options []option, n int) []option {
	if slices.ContainsFunc(options, func(o option) bool { return o.speed > 0 }) {
		options = slices.DeleteFunc(options, func(o option) bool { return o.speed == 0 && (o.load >= enough || n > enough) })
	}
	if slices.ContainsFunc(options, func(o option) bool { return o.speed == 0 }) {
		for i := range options {
			options[i].speed = max(options[i].rail.weight, 1e-9)
		}
	}
	return options
}

// fastest is the option of the highest speed.
func fastest(options []option) option {
	best := options[0]
	for _, o := range options[1:] {
		if o.speed > best.speed {
			best = o
		}
	}
	return best
}

// choose returns the rail for a frame of n bytes: of those that accept it, and are done with
// it in time or as soon as any, the one that has the least to do. It is nil if the one that
// is done the soonest accepts nothing, and the others would be too late.
func choose(options []option, n int) *rail {
	soonest := math.Inf(1)
	for _, o := range options {
		soonest = min(soonest, o.done(n))
	}
	var best *option
	for i := range options {
		o := &options[i]
		if o.accepts && o.done(n) <= max(o.end, soonest) && (best == nil || o.done(0) < best.done(0)) {
			best = o
		}
	}
	if best == nil {
		return nil
	}
	return best.rail
}

// ahead is how many bytes may arrive before one that is late. They wait at the peer, which grants
// so much memory in all.
func (pe *peer) ahead() float64 {
	return float64(min(pe.pml.tune.creditMax, credit.Ample)) * credit.Unit / 2
}

// speedOf is that of all networks together.
func speedOf(options []option) (speed float64) {
	for _, o := range options {
		speed += o.speed
	}
	return speed
}

// foreseeable is when all networks together will be done with what they have, with the frame,
// and with what waits.
func (pe *peer) foreseeable(options []option, f *txFrame) float64 {
	bytes := float64(f.Size) + pe.remaining()
	for _, o := range options {
		bytes += o.load
	}
	left := foreseen
	count := func(other *delivery.Frame) bool {
		if other != &f.Frame {
			bytes += float64(other.Size)
		}
		left--
		return left > 0
	}
	pe.backlog.All(count)
	pe.sent.AllReplays(count)
	for op := pe.waiting.head; op != nil && left > 0; op = op.next {
		bytes += float64(op.size)
		left--
	}
	return bytes / speedOf(options)
}
