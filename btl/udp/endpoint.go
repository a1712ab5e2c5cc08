package udp

import (
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/recovery"
	"github.com/strandmp/strand/wireup"
)

// An endpoint is one connection with one peer, from its first thought to its end.
type endpoint struct {
	wireup.Conn
	m *module

	link     *link
	silent   bool // the peer does not know yet that it was let in: it says something first
	guard    *guard
	sender   sender
	receiver receiver
	arrivals recovery.Arrivals
	window   int            // what the peer's socket has room for at once
	heard    int64          // when anything came last
	drops    int64          // when the peer last said that it drops what comes, and does not acknowledge it
	newest   [2]uint64      // one more than the highest number of DATA and ANSWER that has come
	from     netip.AddrPort // of the packet that is being taken
	forged   int            // packets that were not the peer's
	counters btl.Counters
	taking   bool // a packet is being taken,
	pushes   bool // and the host has sent something, which is to go after it
	skipped  bool // and something of it is nobody's
	dropped  bool // that was so of some packet: the peer is to know
	parted   bool // the peer has said that it leaves

	alarm   *datagram.Alarm // tick
	touched bool            // it may have something to acknowledge, or to release
}

var (
	_ wireup.Endpoint = (*endpoint)(nil)
	_ btl.Watched     = (*endpoint)(nil)
	_ btl.Aborter     = (*endpoint)(nil)
	_ btl.Gauge       = (*endpoint)(nil)
	_ btl.Speedometer = (*endpoint)(nil)
	_ btl.Flusher     = (*endpoint)(nil)
	_ btl.Reporter    = (*endpoint)(nil)
	_ btl.Pather      = (*endpoint)(nil)
)

// Start implements [wireup.Endpoint]. The connector says something at once, and the acceptor waits for
// that before it sends: its packets could otherwise overtake the verdict.
func (ep *endpoint) Start(l wireup.Link, first []byte, peer wireup.Greeting) (err error) {
	m, link := ep.m, l.(*link)
	ep.link, link.ep = link, ep
	m.peers[link.theirs] = link
	if ep.guard, err = ep.newGuard(); err != nil {
		return err
	}
	s := &ep.sender
	ep.window = windowOf(peer.Own)
	s.mtu = ep.newMTU()
	s.path = recovery.NewPath[*piece](recovery.Config{Packet: s.mtu.Size(), Least: leastPacket, Held: heldBack, MostProbe: min(mostProbe, m.cfg.timeout/4), Guess: firstGuess}, m.cfg.control(s.mtu.Size()))
	ep.receiver.init(peer.MaxFrame)
	ep.heard = m.loop.Now()
	if ep.silent = first != nil; ep.silent {
		return link.Send(first)
	}
	s.probes = 1
	ep.push()
	return nil
}

// longest is the longest packet that this end's interface carries, and the peer's socket has room for.
func (ep *endpoint) longest() int { return min(ep.link.so.longest, max(ep.window, leastPacket)) }

// base is how long packets are that every path should carry.
func (ep *endpoint) base() int { return min(basePacket, ep.longest()) }

// newMTU begins the search for the longest packet that the path carries.
func (ep *endpoint) newMTU() recovery.MTU {
	mtu := recovery.NewMTU(leastPacket, ep.base(), ep.longest())
	if ep.m.Local.Nearby(ep.link.remote.Addr()) {
		mtu.Trust()
	}
	return mtu
}

const (
	// heldBack is for how long an acknowledgement of a packet that came alone is held back: the answer
	// of the program may take it along.
	heldBack = time.Millisecond
	// mostProbe bounds the time between two probes.
	mostProbe = time.Second
	// firstGuess is taken for the round trip before there was one. The handshake has shown that the
	// peer answers, and was no faster.
	firstGuess = 50 * time.Millisecond
	// basePacket is what every path should carry: RFC 8899, section 5.1.2, and RFC 9000, section 14.
	basePacket = 1200
)

// tick does what is due.
func (ep *endpoint) tick(now int64) {
	s := &ep.sender
	if !s.live() {
		return
	}
	if late := now - s.since - int64(ep.m.cfg.timeout); s.blocked && late >= 0 {
		if late < mostLate {
			ep.link.ended(fmt.Errorf("the system has had no room for packets for %v: %w", ep.m.cfg.timeout, syscall.ETIMEDOUT))
			return
		}
		s.since += late + mostLate // this process was stopped: the socket is to be looked at first
	}
	if s.path.Tick(now, s) {
		if err := ep.silence(now); err != nil {
			ep.link.ended(err)
			return
		}
		if s.path.Unanswered() >= leastProbes {
			s.shrink()
		}
		s.repeat(now)
	}
	s.resume(now)
	ep.touch()
	ep.m.answer()
}

// mostLate is how much later than it was to be something may be looked at, unless this process was stopped.
const mostLate = int64(time.Second)

// silence is the error if a peer has said nothing for too long, or nothing to what was sent: it may be heard, and not hear us, or nothing
// that is long. Only the time counts in which it was asked. Before, it may have had nothing to say, or this process stood still.
func (ep *endpoint) silence(now int64) error {
	path, most := ep.sender.path, int64(ep.m.cfg.timeout)
	asked := now - path.Since()
	silence, ignored := now-ep.heard, min(asked, now-ep.drops)
	switch {
	case path.Unanswered() <= leastProbes || asked <= most:
		return nil
	case silence > most:
		return fmt.Errorf("nothing was heard for %v: %w", time.Duration(silence).Round(time.Millisecond), syscall.ETIMEDOUT)
	case ignored > most:
		return fmt.Errorf("nothing that was sent was acknowledged for %v: %w", time.Duration(ignored).Round(time.Millisecond), syscall.ETIMEDOUT)
	}
	return nil
}

// leastProbes have to be without an answer before a peer is given up, however long it is silent.
const leastProbes = 3

// rest gives memory back that was for more under way than there is now.
func (ep *endpoint) rest(now int64) {
	s := &ep.sender
	s.path.Rest(now)
	s.spare, s.free = list{}, nil
	ep.receiver.rest()
}

// touch has the endpoint looked at when what has come was taken.
func (ep *endpoint) touch() {
	if !ep.touched {
		ep.touched = true
		ep.m.touched = append(ep.m.touched, ep)
	}
}

// answer acknowledges what has come, and goes on with what acknowledgements have made room for.
func (m *module) answer() {
	for len(m.touched) > 0 {
		last := len(m.touched) - 1
		ep := m.touched[last]
		m.touched = m.touched[:last]
		ep.touched = false
		ep.settle()
	}
}

func (ep *endpoint) settle() {
	s := &ep.sender
	for s.done != nil {
		o := s.done
		s.done = o.next
		f := o.frame
		*o = outgoing{next: s.free}
		s.free = o
		if ep.Live() {
			ep.Recv.Released(f)
		}
	}
	if ep.Live() && s.live() && !ep.silent && s.room(false) {
		ep.Ready()
	}
	if !s.live() {
		return
	}
	if l := ep.link.leaving; l != nil {
		l.work()
	}
	if s.live() {
		ep.proceed()
	}
}

// proceed sends what there is, and what is to be answered. It makes no up-call.
func (ep *endpoint) proceed() {
	s, now := &ep.sender, ep.m.loop.Now()
	ep.pushAt(now)
	if ep.dropped {
		ep.dropped = false
		ep.say(itemLeft)
	}
	if at := ep.arrivals.Due(heldBack); at != 0 && at <= now && !s.blocked {
		ep.acknowledge(now)
	}
	ep.arm(now)
}

// acknowledge sends a packet that does nothing else.
func (ep *endpoint) acknowledge(now int64) {
	s := &ep.sender
	ranges, held := ep.arrivals.Ranges(now, s.ranges[:0], 1+mostRanges)
	if s.ranges = ranges; len(ranges) == 0 {
		return
	}
	if !ep.answer(appendAck(ep.beginAnswer(), ranges, uint32(min(held.Microseconds(), 1<<31)))) {
		ep.arrivals.Untold(now)
		ep.block()
	}
}

// say sends an item that is not acknowledged.
func (ep *endpoint) say(item byte) { ep.answer(append(ep.beginAnswer(), item)) }

func (ep *endpoint) beginAnswer() []byte {
	ep.sender.answers++
	return appendHead(ep.m.scratch[:0], kindAnswer, ep.link.theirs, ep.sender.answers)
}

// answer reports whether the system had room.
func (ep *endpoint) answer(b []byte) (room bool) {
	ep.counters.SendCalls++
	return ep.link.send(ep.guard.seal(b))
}

// arm says when there is something to do next.
func (ep *endpoint) arm(now int64) {
	s := &ep.sender
	at := earlier(s.path.At(), s.resumes)
	if s.blocked { // nothing need be under way
		at = earlier(at, s.since+int64(ep.m.cfg.timeout))
	} else {
		at = earlier(at, ep.arrivals.Due(heldBack))
		if free := s.path.Free(); s.wants() && free > now {
			at = earlier(at, free)
		}
	}
	ep.m.clock.Set(ep.alarm, at)
}

func earlier(a, b int64) int64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// Detach implements [wireup.Endpoint].
func (ep *endpoint) Detach(how wireup.End) {
	if how == wireup.Leaves {
		ep.leave()
		return
	}
	if how == wireup.Lost {
		ep.link.forget()
		ep.receiver.drop(ep.Recv)
	} else {
		ep.link.Abort()
	}
	ep.stop()
}

// stop lets go of everything.
func (ep *endpoint) stop() {
	ep.sender.forget()
	ep.receiver = receiver{}
	ep.m.clock.Set(ep.alarm, 0)
}

// Poll implements [btl.Poller].
func (ep *endpoint) Poll() bool { return ep.Live() && ep.link.so.Receive() }

// Watch implements [btl.Watched]: that of the socket, which Poll reads for all peers.
func (ep *endpoint) Watch() btl.Watch {
	if !ep.Live() {
		return nil
	}
	return ep.link.so.Watch()
}

// Path implements [btl.Pather].
func (ep *endpoint) Path() btl.Path {
	if ep.Accepted() {
		l := ep.Link().(*link)
		return ep.m.Accepted(&ep.Conn, l.so.at.Speed, ep.m.Local.Nearby(l.remote.Addr()))
	}
	return ep.m.Path(ep.Way().(wireup.Pair), ep.PathIndex())
}

// Outstanding implements [btl.Gauge].
func (ep *endpoint) Outstanding() int {
	if !ep.sender.live() {
		return -1
	}
	return ep.sender.path.UnderWay() + ep.sender.queued + ep.sender.waits
}

// InFlight implements [wireup.Endpoint].
func (ep *endpoint) InFlight() int { return ep.Outstanding() }

// Report implements [btl.Reporter].
func (ep *endpoint) Report() btl.Report {
	report, c := ep.Conn.Report(), ep.counters
	report.Counters = &c
	if ep.Live() && ep.sender.live() {
		flow := ep.flow()
		report.Congestion = &flow
	}
	return report
}

func (ep *endpoint) flow() btl.Congestion {
	p := ep.sender.path
	return btl.Congestion{
		Algorithm: ep.m.cfg.congestion, Window: min(p.Window(), ep.spread()), RoundTrip: time.Duration(p.Smoothed),
		Resent: int64(p.Losses), Timeouts: int64(p.Probes),
	}
}

// Speed implements [btl.Speedometer]. Within this machine nothing is on the way but the processes themselves.
func (ep *endpoint) Speed() int64 {
	if !ep.Live() || !ep.sender.live() || ep.m.Local.Nearby(ep.link.remote.Addr()) {
		return 0
	}
	return ep.flow().Speed()
}
