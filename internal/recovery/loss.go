package recovery

import "time"

// What is lost? A packet is if a later one has arrived, and either some more have been sent since, or
// some time has passed (RFC 9002, section 6.1). As packets arrive late that were called lost, more
// of both is asked for (RFC 8985, section 6.2).

// reordering is what is known of how much a path changes the order of packets.
type reordering struct {
	packets uint64 // that may overtake one
	steps   int64  // by eighths of a round trip, beside the first, that a packet may be late
	rests   int    // congestions until that is forgotten
}

const (
	leastOvertaking = 3
	mostOvertaking  = 1000
	mostSteps       = 8
	// memory is for how many congestions, that were ones, a path is taken to reorder.
	memory = 16
)

func newReordering() reordering { return reordering{packets: leastOvertaking} }

// wait is how long a packet may be late.
func (r *reordering) wait(t *RoundTrip) int64 {
	trip := max(t.Smoothed, t.Latest)
	return max(trip+(1+r.steps)*trip/8, granularity)
}

// widen notes that a packet has come late, behind so many others.
func (r *reordering) widen(by uint64) {
	r.packets = min(max(r.packets, by+1), mostOvertaking)
	r.steps = min(r.steps+1, mostSteps)
	r.rests = memory
}

func (r *reordering) rest() {
	if r.rests > 0 {
		if r.rests--; r.rests == 0 {
			*r = newReordering()
		}
	}
}

// detect calls lost what is.
func (p *Path[T]) detect(now int64, owner Owner[T]) {
	p.lossAt = 0
	f := &p.flight
	wait := p.lateness()
	run := int64(-1) // when the first packet was sent of a row of lost ones
	span, last := int64(0), uint64(0)
	for ; f.undecided+1 < p.latest; f.undecided++ {
		n := f.undecided
		packet := f.at(n)
		switch {
		case packet.fate == arrived:
			run = -1
			continue
		case packet.fate != underWay:
			continue
		case packet.sent+wait > now && p.overtaken(n) < p.reorder.packets:
			p.lossAt = packet.sent + wait
			p.congestedBy(now, last, span)
			return
		}
		switch {
		case packet.kind&Sounding != 0:
		case packet.kind&Repeat != 0:
			if n >= p.until {
				p.lack = min(p.lack+int(packet.size), p.control.Window())
			}
		default:
			if run < 0 {
				run = packet.sent
			}
			span, last = max(span, packet.sent-run), n+1
		}
		p.lose(n, owner)
	}
	f.pass()
	p.congestedBy(now, last, span)
}

// overtaken is how many packets later than one the latest is that has arrived. Those do not count that the system has not taken: where it has no
// room their numbers are left out by the dozen.
func (p *Path[T]) overtaken(n uint64) uint64 {
	return uint64(p.flight.at(p.latest-1).nth - p.flight.at(n).nth)
}

func (p *Path[T]) lose(n uint64, owner Owner[T]) {
	packet := p.flight.at(n)
	size, kind := int(packet.size), packet.kind
	p.Losses++
	if kind&Sounding == 0 {
		p.blame(n)
		if size > p.config.Least {
			p.long.loses(n, size)
		}
	}
	owner.Lost(p.flight.decide(n, lost), size, kind)
}

// congestedBy notes a loss that lasted for so long. last is one more than the number of the last lost
// packet; 0: there was none.
func (p *Path[T]) congestedBy(now int64, last uint64, span int64) {
	switch {
	case last == 0:
	case p.Smoothed > 0 && span > 3*p.patience():
		p.collapse(now)
	default:
		p.congested(now, last-1)
	}
}

// congestion keeps one congestion from counting more than once: what was sent before the window was
// reduced says nothing of the new window.
type congestion struct {
	from, until uint64 // the numbers whose loss belongs to it: the window was reduced when until was next
	blamed      int    // of them, how many are lost, and have not arrived after all
	further     int    // lost, with higher numbers
	undo        bool   // all of them may still turn out to be late
}

// blame notes a loss.
func (c *congestion) blame(n uint64) {
	switch {
	case n >= c.until:
		c.further++
	case n >= c.from:
		c.blamed++
	}
}

// renew begins the next congestion.
func (c *congestion) renew(next uint64) {
	*c = congestion{from: c.until, until: next, blamed: c.further, undo: c.further > 0}
}

// late notes that a packet has arrived that had been blamed, and reports whether all have.
func (c *congestion) late(n uint64) (all bool) {
	if n < c.from || n >= c.until {
		return false
	}
	c.blamed--
	return c.undo && c.blamed == 0
}

func (p *Path[T]) congested(now int64, last uint64) {
	if last < p.until {
		return
	}
	p.renew(p.flight.next)
	p.lack = 0
	p.Congestions++
	p.reorder.rest()
	p.control.Congested(now)
	p.excess = excess{}
	if p.control.Gradual() {
		p.excess = newExcess(p.flight.bytes, p.control.Window())
	}
}

func (p *Path[T]) collapse(now int64) {
	p.renew(p.flight.next)
	p.undo, p.lack, p.excess = false, 0, excess{}
	p.Collapses++
	p.control.Collapsed(now)
}

// spurious notes that a packet has arrived that was called lost.
func (p *Path[T]) spurious(n uint64, kind Kind) {
	p.Spurious++
	by := uint64(0)
	if n < p.latest {
		by = p.overtaken(n) + 1
	}
	p.reorder.widen(by)
	if kind&Sounding == 0 && p.late(n) { // a sounding was not blamed
		p.undo = false
		p.until = p.from // the window may grow again
		p.excess = excess{}
		p.control.Undo()
	}
}

// patience is how long no acknowledgement may come before a probe is sent: RFC 9002's PTO, or SCTP's RTO.
func (p *Path[T]) patience() int64 { return p.waits(int64(p.config.Held)) }

// waits is that where an acknowledgement is held back for so long.
func (p *Path[T]) waits(held int64) int64 {
	wait := 2 * int64(p.config.Guess)
	if p.Smoothed > 0 {
		wait = p.Smoothed + max(4*p.Variation, granularity) + held
	}
	return min(max(wait, int64(p.config.LeastProbe)), p.most())
}

// most is the longest time without an answer until something is done. No answer has come in less than the least round trip.
func (p *Path[T]) most() int64 { return max(int64(p.config.MostProbe), 2*p.Least) }

// Timeout is how long an answer is waited for, when the last one was in time.
func (p *Path[T]) Timeout() time.Duration { return time.Duration(p.patience()) }

// At is when [Path.Tick] is to be called; 0: there is nothing to wait for.
func (p *Path[T]) At() int64 {
	if p.lossAt != 0 { // answers come, so that none is asked for, but not for ever: they may all have been late
		return min(p.lossAt, p.sentAt+p.most())
	}
	if p.flight.bytes == 0 {
		return 0
	}
	held := int64(p.config.Held)
	if p.flight.bytes > p.config.Packet {
		held = 0 // of two packets one is answered at once
	}
	most := p.most()
	wait := min(p.waits(held)<<min(max(p.backoff, p.Barren()), mostBackoff), most)
	return min(p.sentAt+wait, p.waitAt+min(2*wait, most)) // what is sent meanwhile, little by little, does not put the probe off for ever
}

// Tick does what is due. It reports whether the caller is to send a probe, whatever [Path.Room] says: a
// packet with what has been under way for longest, or anything else that is acknowledged.
func (p *Path[T]) Tick(now int64, owner Owner[T]) (probe bool) {
	p.awake(now)
	at := p.At()
	switch {
	case at == 0 || now < at:
		return false
	case p.lossAt != 0 && now >= p.lossAt:
		p.detect(now, owner)
		return false
	}
	p.probes++
	p.backoff++
	p.asked = false
	p.Probes++
	p.sentAt, p.waitAt = now, now // the caller may find no room, and has its time until the next one all the same
	return true
}

// Reclaim takes back what the oldest packet under way carries that carries anything, for a probe. The packet
// stays under way, with nothing: should it arrive after all, what it carried arrives twice.
func (p *Path[T]) Reclaim(carries func(T) bool) (what T, found bool) {
	for n := p.flight.undecided; n < p.flight.next; n++ {
		packet := p.flight.at(n)
		if packet.fate == underWay && packet.kind&Sounding == 0 && carries(packet.what) {
			var none T
			what, packet.what = packet.what, none
			return what, true
		}
	}
	return what, false
}

// Retract takes back packets that were entered by Send just now, from a number on, and that the system has not
// taken. They are the owner's again, as lost ones are, and say nothing of the network. Their numbers do not come again: the
// system may have sent some of what it says that it has not taken, as where it cuts up a batch for a path that came to be narrower. The receiver
// would take what has the number next for a copy, and with AES-GCM no number may have two contents.
func (p *Path[T]) Retract(from uint64, owner Owner[T]) {
	for n := from; n < p.flight.next; n++ {
		packet := p.flight.at(n)
		size, kind := int(packet.size), packet.kind
		p.pacer.sent(-size)
		p.Sent--
		owner.Lost(p.flight.decide(n, untaken), size, kind)
	}
	p.flight.pass()
	p.full = min(p.full, from)
}

// Since is when the oldest packet was sent that is under way; 0: none is.
func (p *Path[T]) Since() int64 {
	for n := p.flight.undecided; n < p.flight.next; n++ {
		if packet := p.flight.at(n); packet.fate == underWay {
			return packet.sent
		}
	}
	return 0
}

// Unanswered is how many probes in a row were not answered. A transport gives a path up by it.
func (p *Path[T]) Unanswered() int { return p.probes }

// Abandon calls everything lost that is under way, as when the path is given up.
func (p *Path[T]) Abandon(now int64, owner Owner[T]) {
	if p.flight.bytes > 0 {
		p.barren++
	}
	for n := p.flight.undecided; n < p.flight.next; n++ {
		if p.flight.at(n).fate == underWay {
			p.lose(n, owner)
		}
	}
	p.flight.undecided, p.lossAt, p.idleAt = p.flight.next, 0, now
	p.probes, p.backoff = 0, 0 // nobody waits for an answer any more
	p.collapse(now)
}

// Barren is how often the path was given up, beside the first time, since anything has arrived over it. It was
// taken to be good in between: something else than data gets through, perhaps. So other paths are better, and each time it is given
// twice as long.
func (p *Path[T]) Barren() int { return max(p.barren-1, 0) }

// Forgive has the path be tried once more, sooner or later.
func (p *Path[T]) Forgive() { p.barren = max(p.barren-1, 0) }

// Settle notes that all has arrived that the packets under way carry, if in others. What was sent after the latest packet that is
// known to have arrived nothing more will tell of: no answer is waited for. It counts as arrived, or it would fill the
// window for good.
func (p *Path[T]) Settle(now int64) {
	f := &p.flight
	if f.bytes == 0 {
		return
	}
	for n := max(f.undecided, p.latest); n < f.next; n++ {
		if f.at(n).fate == underWay {
			f.decide(n, arrived)
		}
	}
	if f.bytes == 0 {
		p.idleAt = now
	}
}

// Waits is how long a packet is given before it counts as lost, for reports.
func (p *Path[T]) Waits() time.Duration { return time.Duration(p.lateness()) }

// lateness is that, in ns. An answer that took a minute, as that of a process that was stopped, is no reason to wait for a minute.
func (p *Path[T]) lateness() int64 {
	return min(p.reorder.wait(&p.RoundTrip), p.most())
}

// Pause is how long something waits, from when it was sent for the n-th time, that is lost: until then it is not sent once
// more. Twice it is sent again at once. What is lost still, while other packets arrive, would take their place in
// each round trip. So it waits longer each time, as with the timer of RFC 9260, section 6.3.3.
func (p *Path[T]) Pause(sends int) int64 {
	if sends <= sendsAtOnce {
		return 0
	}
	trip := max(p.Smoothed, p.Latest, granularity)
	return min(trip<<min(sends-sendsAtOnce, mostBackoff), int64(p.config.MostProbe))
}

// sendsAtOnce is how often something is sent as soon as it is lost, the first time included, and once more.
const sendsAtOnce = 2
