package udp

import (
	"net/netip"
	"slices"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/recovery"
)

// A receiver puts frames together, and knows those apart that have arrived.
type receiver struct {
	base uint64               // all frames below have arrived
	seen []uint64             // those that have, from base on, by their numbers' remainders; its length is a power of two
	open map[uint64]*incoming // those of which parts have
	free *incoming
	most int // bytes of a frame
}

// seenFrames is how far frames may be ahead of the oldest that is missing: twice what a sender holds.
const (
	seenFrames = 2 * mostFrames
	leastSeen  = 4 // words
)

func (r *receiver) init(most int) { r.open, r.most = make(map[uint64]*incoming), most }

// number is a frame's whole number, and whether the frame may be new.
func (r *receiver) number(low uint32) (n uint64, fresh bool, err error) {
	ahead := int32(low - uint32(r.base))
	switch {
	case ahead < 0:
		return 0, false, nil
	case ahead >= seenFrames:
		return 0, false, errNumber
	}
	n = r.base + uint64(ahead)
	return n, !r.has(n), nil
}

// has reports whether a frame has arrived that is not below base.
func (r *receiver) has(n uint64) bool {
	return n-r.base < uint64(64*len(r.seen)) && *r.word(n)>>(n%64)&1 == 1
}

func (r *receiver) word(n uint64) *uint64 { return &r.seen[n/64%uint64(len(r.seen))] }

// done notes that a frame has arrived whole.
func (r *receiver) done(n uint64) {
	for n-r.base >= uint64(64*len(r.seen)) {
		r.extend()
	}
	*r.word(n) |= 1 << (n % 64)
	for ; r.has(r.base); r.base++ {
		*r.word(r.base) &^= 1 << (r.base % 64)
	}
}

func (r *receiver) extend() {
	old := *r
	r.seen = make([]uint64, max(leastSeen, 2*len(old.seen)))
	for n := r.base; n-r.base < uint64(64*len(old.seen)); n++ {
		if old.has(n) {
			*r.word(n) |= 1 << (n % 64)
		}
	}
}

// rest gives memory back that was for more.
func (r *receiver) rest() {
	r.free = nil
	if !slices.ContainsFunc(r.seen, func(w uint64) bool { return w != 0 }) {
		r.seen = nil
	}
}

// An incoming is a frame of which parts have arrived.
type incoming struct {
	landing *btl.Landing
	size    int
	left    int
	gaps    []span // that are missing, in order
	next    *incoming
}

// mostGaps bounds what is kept of a frame whose parts come in any order: there is room for every second part of the longest frame in
// the shortest packets.
const mostGaps = 32 << 10

// A span is from a byte up to another.
type span struct{ from, to int }

// take puts a part into its place: what of it is new.
func (in *incoming) take(offset int, b []byte) {
	end := offset + len(b)
	i, _ := slices.BinarySearchFunc(in.gaps, offset+1, func(g span, to int) int { return g.to - to }) // the first that ends behind the offset
	for i < len(in.gaps) && in.gaps[i].from < end {
		g := in.gaps[i]
		from, to := max(g.from, offset), min(g.to, end)
		in.landing.Put(from, b[from-offset:to-offset])
		in.left -= to - from
		switch {
		case from == g.from && to == g.to:
			in.gaps = append(in.gaps[:i], in.gaps[i+1:]...)
		case from == g.from:
			in.gaps[i].from = to
			i++
		case to == g.to:
			in.gaps[i].to = from
			i++
		default:
			in.gaps[i].to = from
			in.gaps = append(in.gaps, span{})
			copy(in.gaps[i+2:], in.gaps[i+1:])
			in.gaps[i+1] = span{to, g.to}
			i += 2
		}
	}
}

// take takes a packet for this connection. It has arrived, for the peer, when all in it is the host's. The
// host may send meanwhile, or close the endpoint: then what follows in the packet is nobody's, and the
// packet is not acknowledged.
func (ep *endpoint) take(now int64, so *socket, from netip.AddrPort, b []byte) {
	kind, number, size := b[0], order.Uint64(b[nameSize:]), len(b)
	items, good := ep.guard.open(b)
	if !good {
		ep.forged++
		return
	}
	ep.heard = now
	ep.counters.ReceiveCalls++
	ep.touch()
	ep.from = from
	if newest := &ep.newest[countOf(b)]; number >= *newest {
		*newest = number + 1
		ep.link.cameBy(now, so, from, size)
	}
	numbered := kind == kindData
	if numbered {
		ep.silent = false
		if ep.arrivals.Has(number) {
			ep.arrivals.Add(now, number)
			return
		}
	}
	ep.taking, ep.skipped = true, false
	err := ep.items(now, number, items)
	ep.taking = false
	switch {
	case err != nil:
		if ep.Live() {
			ep.Malformed(err)
		}
		return
	case ep.skipped:
		ep.dropped = true
	case numbered:
		ep.arrivals.Add(now, number)
	}
	if ep.pushes && ep.sender.live() {
		ep.pushes = false
		ep.push()
	}
	if ep.parted && ep.sender.live() {
		ep.acknowledge(now)
		if ep.Live() {
			ep.Goodbye()
		}
	}
}

func (ep *endpoint) items(now int64, number uint64, b []byte) (err error) {
	for len(b) > 0 && err == nil && ep.sender.live() {
		item := b[0]
		b = b[1:]
		switch item {
		case itemPadding:
			return nil
		case itemPing:
		case itemAck:
			b, err = ep.acknowledged(now, b)
		case itemFrame, itemPart:
			var p part
			if p, b, err = readFrame(b, item == itemFrame); err == nil {
				err = ep.frame(p)
			}
		case itemFloor:
			var floor uint64
			if floor, b, err = readFloor(b); err == nil && floor > number {
				err = errRange
			}
			if err == nil {
				ep.arrivals.Forget(floor)
			}
		case itemWhere, itemHere:
			var token uint64
			if token, b, err = readToken(b); err != nil {
				break
			}
			if item == itemHere {
				ep.here(token)
			} else {
				ep.sayHere(token)
			}
		case itemBye:
			ep.theyLeave()
		case itemLeft:
			ep.theyDrop()
		default:
			return errItem
		}
	}
	return err
}

func (ep *endpoint) acknowledged(now int64, b []byte) (rest []byte, err error) {
	s := &ep.sender
	var held uint32
	if s.ranges, held, rest, err = readAck(b, s.ranges[:0]); err != nil {
		return nil, err
	}
	s.unheard = s.path.Unanswered() >= leastProbes
	err = s.path.Acknowledge(now, s.ranges, time.Duration(held)*time.Microsecond, 0, s)
	s.unheard = false
	oldest := s.ranges[len(s.ranges)-1]
	s.forgets = s.forgets || len(s.ranges) > 1 && oldest.Last < s.path.Floor()
	if s.path.Missed() >= recovery.MissedAtMost {
		s.shrink()
	}
	return rest, err
}

// frame takes a frame, or a part of one.
func (ep *endpoint) frame(p part) error {
	r := &ep.receiver
	ep.counters.BytesReceived += uint64(len(p.header) + len(p.payload))
	n, fresh, err := r.number(p.number)
	switch {
	case err != nil:
		return err
	case p.size > r.most:
		return errPart
	case !fresh:
		return nil
	case !ep.Live():
		ep.skipped = true
		return nil
	case p.whole && r.open[n] == nil:
		r.done(n)
		ep.counters.FramesReceived++
		return ep.Recv.Deliver(p.header, p.payload)
	}
	in := r.open[n]
	if in == nil {
		if in, err = ep.begin(n, p); in == nil {
			return err
		}
	}
	if in.size != p.size {
		return errPart
	}
	if in.take(p.offset, p.payload); len(in.gaps) > mostGaps {
		return errPart
	}
	if in.left > 0 {
		return nil
	}
	delete(r.open, n)
	r.done(n)
	landing := in.landing
	in.landing, in.next, r.free = nil, r.free, in
	ep.counters.FramesReceived++
	return ep.Recv.End(landing)
}

func (ep *endpoint) begin(n uint64, p part) (*incoming, error) {
	landing, err := ep.Recv.Begin(p.header, p.size)
	if err != nil {
		return nil, err
	}
	if !ep.Live() { // the host has closed the endpoint meanwhile
		ep.skipped = true
		return nil, nil
	}
	r := &ep.receiver
	in := r.free
	if in == nil {
		in = new(incoming)
	} else {
		r.free = in.next
	}
	in.landing, in.size, in.left, in.gaps = landing, p.size, p.size, append(in.gaps[:0], span{0, p.size})
	r.open[n] = in
	return in, nil
}

// drop gives up what has half arrived.
func (r *receiver) drop(recv btl.Receiver) {
	for _, in := range r.open {
		recv.Drop(in.landing)
	}
	r.open = nil
}
