package recovery

import (
	"errors"
	"fmt"
	"time"
)

// A Path is the sender's side of one path to a peer. It keeps with each packet what the caller wants back
// when the packet has arrived, or is lost. It is not safe for concurrent use, and allocates nothing but
// room for more packets under way than ever before.
type Path[T any] struct {
	RoundTrip
	config  Config
	control Controller
	flight  flight[T]
	pacer   pacer
	reorder reordering
	congestion
	latest  uint64 // one more than the latest number that has arrived; 0: none has
	lossAt  int64  // when the next packet is lost if it has not arrived; 0: none is in doubt
	sentAt  int64  // when the last packet was sent
	waitAt  int64  // since when no answer has come, and no probe was sent
	idleAt  int64  // since when nothing is under way
	earlyAt int64  // since when all answers come early; 0: they do not
	probes  int    // that were sent in a row without an answer
	backoff int    // how often the time until a probe was doubled
	barren  int    // how often in a row all was called lost as the path was given up, and nothing had arrived since the time before
	asked   bool   // something else that went over the path was answered since the last probe
	full    uint64 // one more than the latest number that was sent as half of the window was in use
	marked  uint64 // packets that the network has marked (ECN)
	long    blackHole
	lack    int // bytes that the window lacks for now, since repeats are lost
	excess  excess
	account account
	Counters
}

// A Config says what a path is like. What is 0 has its default.
type Config struct {
	// Packet is the length of a full packet in bytes.
	Packet int
	// Guess is taken for the round trip before there was one: 333 ms.
	Guess time.Duration
	// LeastProbe and MostProbe bound the time without an acknowledgement after which a probe is sent:
	// 1 ms, a minute; neither is less than 1 ms. SCTP has them as RTO.Min and RTO.Max.
	LeastProbe, MostProbe time.Duration
	// Least is how long packets may be that the path carries in any case ([MTU]).
	Least int
	// Held is for how long the receiver may hold an acknowledgement back.
	Held time.Duration
}

// A Kind says what else there is to a packet.
type Kind uint8

const (
	// Again packets repeat an earlier one in a way that the receiver can not tell from it: a chunk of
	// SCTP with the same number. An answer that comes too early is the earlier one's (Karn's rule).
	Again Kind = 1 << iota
	// Repeat packets carry what was lost before. The window was reduced for that loss. If it is lost once more, the window
	// lacks this packet until as much has arrived (as with RFC 6937): it is not reduced once more by its half, or
	// something that gets lost whenever it is sent would have all others stand still.
	Repeat
	// Sounding packets are longer than any that is known to get through. That one is lost says
	// nothing of congestion.
	Sounding
)

// An Owner gets back what it sent. It must not call the path meanwhile.
type Owner[T any] interface {
	// Arrived is called once for each packet that has arrived and was not called lost before.
	Arrived(what T, size int, kind Kind)
	// Lost is called once for each packet that is lost. What it carried is to be sent again if it is
	// still wanted. The packet may arrive all the same.
	Lost(what T, size int, kind Kind)
}

// Counters say what happened.
type Counters struct {
	Sent, Arrivals, Losses uint64 // packets
	Spurious               uint64 // that were called lost, and have arrived
	Congestions, Collapses uint64
	Probes                 uint64
}

// account sums up an acknowledgement that is being read.
type account struct {
	bytes  int
	newest uint64 // one more than the newest number that this one tells of; 0: none
	sample int64
	early  bool // it tells of packets that it came too early for
}

// Errors of an acknowledgement. Whoever sends such a one is not to be believed any more.
var (
	ErrNeverSent = errors.New("it acknowledges what was never sent")
	ErrSkipped   = errors.New("it acknowledges a number that was left out: it has not seen what it acknowledges")
	ErrRanges    = errors.New("its ranges are out of order")
)

const (
	defaultGuess = 333 * time.Millisecond
	defaultMost  = time.Minute
	mostBackoff  = 20
)

// NewPath returns a path on which nothing was sent.
func NewPath[T any](config Config, control Controller) *Path[T] {
	if config.Guess == 0 {
		config.Guess = defaultGuess
	}
	config.LeastProbe = max(config.LeastProbe, time.Duration(granularity))
	if config.MostProbe == 0 {
		config.MostProbe = defaultMost
	}
	config.MostProbe = max(config.MostProbe, time.Duration(granularity))
	return &Path[T]{config: config, control: control, reorder: newReordering()}
}

// UnderWay is how many bytes are.
func (p *Path[T]) UnderWay() int { return p.flight.bytes }

// Rest gives memory back, where nothing is under way and nothing will be for some time.
func (p *Path[T]) Rest(now int64) {
	f := &p.flight
	if f.forget(now - 3*p.patience()); f.first == f.next {
		f.ring = nil
	}
}

// Window is how many bytes may be under way.
func (p *Path[T]) Window() int {
	window := p.control.Window()
	return max(window+p.excess.bytes()-p.lack, min(window, leastPackets*p.config.Packet))
}

// Next is the number that the next packet will have.
func (p *Path[T]) Next() uint64 { return p.flight.next }

// Floor is the number below which nothing is of interest any more: what an acknowledgement says of it changes
// nothing. [Arrivals.Forget] is for it.
func (p *Path[T]) Floor() uint64 { return p.flight.first }

// Missed is how many packets longer than the least are lost, since the latest of their length that has arrived. Where
// they are many the path may carry none of their length any more, without saying so ([MTU.Shrunk]).
func (p *Path[T]) Missed() int { return p.long.missed }

// Send takes a packet that is being sent, and that the receiver is to acknowledge. It returns the
// packet's number.
func (p *Path[T]) Send(now int64, size int, kind Kind, what T) uint64 {
	if p.flight.bytes == 0 && p.idleAt != 0 {
		p.control.Idle(now - p.idleAt)
		p.idleAt = 0 // it counts once, whatever becomes of this packet
	}
	p.awake(now)
	if p.flight.bytes == 0 {
		p.waitAt = now
	}
	p.sentAt = now
	p.pacer.sent(size)
	p.Sent++
	n := p.flight.add(underWay, kind, size, now, what)
	p.flight.at(n).nth = uint32(p.Sent)
	p.use()
	return n
}

// use notes whether at least half of the window is in use: RFC 7661, section 4.2. One that grew only while it keeps something
// from being sent would shrink with each loss, whoever sends a steady flow, and the flow would wait.
func (p *Path[T]) use() {
	if p.flight.bytes >= p.Window()/2 {
		p.full = p.flight.next
	}
}

// Skip leaves a number out. A receiver that acknowledges it has not waited for what it acknowledges.
func (p *Path[T]) Skip(now int64) {
	var none T
	p.flight.add(skipped, 0, 0, now, none)
}

// Answered notes how long the answer took to something else that went over the path, such as a heartbeat. Probes go on sooner then, as RFC 9260, section
// 6.3.3, has it, but more and more seldom all the same: what gets through may be such answers alone.
func (p *Path[T]) Answered(now, took int64) {
	p.add(now, took, 0)
	p.asked, p.backoff = true, min(p.backoff, p.probes/probesAlike)
}

// probesAlike is how many probes go after the same time while other answers come.
const probesAlike = 3

// Room is how many of so many bytes may be sent now. The window is the network's, the pace is ours.
func (p *Path[T]) Room(now int64, wanted int) int {
	window := p.Window() - p.flight.bytes
	return max(min(wanted, window, p.pacer.room(now, p.pace())), 0)
}

// Free is when a full packet may be sent as far as the pace is concerned.
func (p *Path[T]) Free() int64 { return p.pacer.free(p.config.Packet, p.pace()) }

func (p *Path[T]) pace() pace { return paceOf(p.control, p.Smoothed) }

// Resize notes that full packets are of another size from now on.
func (p *Path[T]) Resize(packet int) {
	p.config.Packet = packet
	p.long = blackHole{from: p.flight.next}
	p.control.Resized(packet)
}

// A Range is a row of numbers, both ends included.
type Range struct{ First, Last uint64 }

// Acknowledge takes the numbers that have arrived: the newest range first, as [Arrivals.Ranges] gives
// them. It may repeat what earlier ones told. Held says for how long the receiver has held back the
// answer to the newest, and marked how many packets in all came to it marked by the network. After an
// error nothing of it was taken.
func (p *Path[T]) Acknowledge(now int64, ranges []Range, held time.Duration, marked uint64, owner Owner[T]) error {
	if err := p.check(ranges); err != nil {
		return err
	}
	p.Begin(now)
	for _, r := range ranges {
		for n := p.flight.missing(max(r.First, p.flight.first)); n <= r.Last; n = p.flight.missing(n + 1) {
			p.Mark(now, n, owner)
		}
	}
	p.End(now, held, marked, owner)
	return nil
}

func (p *Path[T]) check(ranges []Range) error {
	for i, r := range ranges {
		switch {
		case r.Last < r.First, i > 0 && r.Last >= ranges[i-1].First:
			return fmt.Errorf("%w: %d to %d", ErrRanges, r.First, r.Last)
		case r.Last >= p.flight.next:
			return fmt.Errorf("%w: %d of %d", ErrNeverSent, r.Last, p.flight.next)
		}
		for n := p.flight.missing(max(r.First, p.flight.first)); n <= r.Last; n = p.flight.missing(n + 1) {
			if p.flight.at(n).fate == skipped {
				return fmt.Errorf("%w: %d", ErrSkipped, n)
			}
		}
	}
	return nil
}

// Begin begins an acknowledgement whose numbers the caller finds out one by one, with [Path.Mark], up to
// [Path.End]. A transport does so whose packets do not carry the path's numbers, such as SCTP.
func (p *Path[T]) Begin(now int64) {
	p.awake(now)
	p.account = account{}
}

// Mark notes that a packet has arrived.
func (p *Path[T]) Mark(now int64, n uint64, owner Owner[T]) {
	if n < p.flight.first || n >= p.flight.next {
		return
	}
	packet := p.flight.at(n)
	age := now - packet.sent
	early := packet.kind&Again != 0 && p.Early(age) // so it was the earlier one that arrived
	switch packet.fate {
	case arrived, skipped:
		return
	case untaken: // it was sent all the same
		p.flight.decide(n, arrived)
		return
	case lost:
		p.flight.decide(n, arrived)
		p.spurious(n, packet.kind)
		return
	}
	a, size, kind := &p.account, int(packet.size), packet.kind
	if size > p.config.Least {
		p.long.carries(n, size)
	}
	a.bytes += size
	if n >= a.newest && !early {
		a.newest, a.sample = n+1, age
		if kind&Again != 0 {
			a.sample = 0
		}
	}
	a.early = a.early || early
	p.Arrivals++
	owner.Arrived(p.flight.decide(n, arrived), size, kind)
}

// Early reports whether an answer has come sooner after a packet than it can be the answer to that one. The
// quickest that was seen may have been held back, and this one not.
func (p *Path[T]) Early(age int64) bool { return age+int64(p.config.Held) < p.Least }

// judge has the path taken to be quicker than it ever was, if for some time no answer came that was not early: by then those to the
// earlier packets have arrived. Otherwise, where all packets repeat others, none would be newer than what had
// arrived once, and nothing would be called lost any more.
func (p *Path[T]) judge(now int64) {
	switch a := &p.account; {
	case a.newest > 0:
		p.earlyAt = 0
	case a.early && p.earlyAt == 0:
		p.earlyAt = now
	case a.early && now-p.earlyAt > p.patience():
		p.earlyAt, p.Least = 0, 0
	}
}

// End ends an acknowledgement: it finds out what is lost, and tells the congestion control.
func (p *Path[T]) End(now int64, held time.Duration, marked uint64, owner Owner[T]) {
	a := &p.account
	if a.newest > p.latest {
		p.latest = a.newest
		if a.sample > 0 {
			p.add(now, a.sample, min(int64(held), int64(p.config.Held)))
		}
	}
	if a.bytes > 0 {
		p.probes, p.barren, p.waitAt = 0, 0, now
	}
	if a.sample > 0 || a.bytes > 0 && p.asked { // else the answer may be one to what was sent before the probes: Karn and Partridge, 1987; RFC 6298, section 5
		p.backoff = 0
	}
	p.judge(now)
	p.lack = max(p.lack-a.bytes, 0)
	p.excess.arrived(a.bytes)
	p.detect(now, owner)
	if marked > p.marked {
		p.marked = marked
		p.congested(now, p.latest-1)
	}
	if a.newest > p.until {
		p.control.Arrived(Sample{
			Now: now, Bytes: a.bytes, Limit: a.newest <= p.full, RTT: p.Smoothed,
			Last: a.newest - 1, Next: p.flight.next, Latest: a.sample,
		})
	}
	p.flight.forget(now - 3*p.patience())
	if p.flight.bytes == 0 {
		p.idleAt, p.earlyAt = now, 0
	}
}
