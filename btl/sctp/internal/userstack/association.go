package userstack

import (
	"cmp"
	"errors"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/datagram"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/sctp"
	"github.com/strandmp/strand/internal/sctp/stream"
)

// An association is our end of one.
type association struct {
	s        *Stack
	p        *sctp.Association
	h        stack.Handler
	over     bool // the handler is not called any more
	severed  bool
	refused  bool // Busy was returned, and Writable is due
	touched  bool
	deferred bool      // the loop will flush it
	blocked  bool      // a socket has had no room for it,
	since    int64     // since when,
	waits    []*socket // those that will tell when they have,
	kept     []batch   // and what they have not taken
	epoch    uint64
	held     int // bytes that were sent since it was last drained
	lent     loan
	alarm    *datagram.Alarm
	giveUp   btl.Timer // ends an attempt that takes too long
	ways     []way
	heard    *socket     // at which the peer's last packet came
	looks    uint        // at it alone, or at those of all ways
	pairs    []sctp.Pair // of an attempt, at which somebody may be
	sent     uint64      // calls
	received uint64      // packets
}

var (
	_ stack.Association = (*association)(nil)
	_ sctp.Owner        = (*association)(nil)
	_ btl.Deferred      = (*association)(nil)
	_ datagram.Waiter   = (*association)(nil)
)

func (s *Stack) newAssociation() *association {
	a := &association{s: s}
	a.alarm = datagram.NewAlarm(a.tick)
	return a
}

// forget ends what the stack knows of it.
func (a *association) forget() {
	a.over = true
	if a.giveUp != nil {
		a.giveUp.Stop()
		a.giveUp = nil
	}
	if a.severed {
		a.severed = false
		a.s.severed--
	}
}

// Associate implements [stack.Stack].
func (s *Stack) Associate(r stack.Route, h stack.Handler) (stack.Association, error) {
	a := s.newAssociation()
	a.h = h
	for _, p := range r.Pairs {
		if so := s.socketFor(p.Local, p.Remote.Addr()); so != nil {
			a.pairs = append(a.pairs, so.pair(p.Remote, p.Nearby))
		}
	}
	if len(a.pairs) == 0 {
		return nil, syscall.EADDRNOTAVAIL
	}
	p, err := s.endpoint.Associate(s.cfg.Loop.Now(), a.pairs, stack.InnerPort, a)
	if err != nil {
		return nil, err
	}
	a.p = p
	if t := s.cfg.ConnectTimeout; t > 0 {
		a.giveUp = overdue.After(s.cfg.Loop, t, func() { a.fail(syscall.ETIMEDOUT) })
	}
	s.work(a)
	return a, nil
}

// fail ends it for a reason that the protocol does not know.
func (a *association) fail(err error) {
	if a.over {
		return
	}
	a.p.Discard()
	a.Down(err)
}

// refusedAt notes that nobody is at an address, or that a firewall or a router lets nothing get there.
func (a *association) refusedAt(remote netip.AddrPort, why error) {
	a.without(func(p sctp.Pair) bool { return p.Remote == remote }, why)
}

// without notes which pairs of an attempt lead nowhere. If all do, the attempt has failed.
func (a *association) without(pairs func(sctp.Pair) bool, why error) {
	a.pairs = slices.DeleteFunc(a.pairs, pairs)
	if len(a.pairs) == 0 && a.p.State() == sctp.CookieWait {
		a.fail(why)
	}
}

// work sends what an association has, now or when the endpoint has returned.
func (s *Stack) work(a *association) {
	a.touch()
	s.settle()
}

func (a *association) touch() {
	if !a.touched {
		a.touched = true
		a.s.touched = append(a.s.touched, a)
	}
}

// settle sends what there is, and says that there is room. What the host sends then goes out when it has sent all of it: the
// rest of a message shares a packet, and a call, with the beginning of the next one.
func (a *association) settle() {
	a.drain()
	if a.refused && !a.over && a.p.State() == sctp.Established && a.p.Queued() <= a.outstanding()*3/4 {
		a.refused = false
		a.s.inside++
		a.h.Writable()
		a.s.inside--
	}
}

// Send implements [stack.Association].
func (a *association) Send(id uint16, ppid uint32, head []byte, f *btl.Frame) btl.Result {
	size := len(head)
	if f != nil {
		size += f.Size
	}
	switch {
	case a.over:
		return btl.Broken
	case size > a.s.cfg.MaxMessage:
		a.s.cfg.Loop.Post(func() { a.fail(syscall.EMSGSIZE) }) // no call of the handler from here
		return btl.Broken
	}
	if queued := a.p.Queued(); queued > 0 && queued+size > a.s.cfg.Outstanding && queued+size > a.outstanding() {
		a.refused = true
		return btl.Busy
	}
	var m *message
	result := btl.Done
	if lends(f) {
		m, result = a.s.messages.borrow(head, f), btl.Taken
	} else {
		m = a.s.messages.fill(head, f)
	}
	m.Stream, m.PPID, m.Unordered = id, ppid, false
	if err := a.p.Push(a.s.cfg.Loop.Now(), &m.Message); err != nil {
		m.frame = nil
		a.s.messages.put(m)
		if a.s.cfg.Autoclose > 0 && errors.Is(err, sctp.ErrOver) {
			a.refused = true // it was idle too long, and is about to end
			return btl.Busy
		}
		return btl.Broken
	}
	if m.frame != nil {
		a.lent.add(m)
	}
	a.held += size
	a.soon()
	return result
}

// Keep implements [stack.Association].
func (a *association) Keep() {
	for m := a.lent.first; m != nil; m = a.lent.first {
		a.lent.remove(m)
		m.keep()
	}
}

// outstanding bounds what may be pushed and not confirmed. Twice the windows keep a long way full until news of what has arrived is
// there. On this machine more would only leave the processor's caches.
func (a *association) outstanding() int {
	least := a.s.cfg.Outstanding
	if a.s.nearby(a.p.Remote().Addr()) {
		return least
	}
	return max(least, min(2*a.p.CongestionWindow(), a.s.cfg.MostOutstanding))
}

// flushAt is how many bytes are held back at most, to go out together.
const flushAt = 16 << 10

// soon sends at once what is the first since the last poll. More waits a moment, so that it shares packets
// and calls.
func (a *association) soon() {
	s, loop := a.s, a.s.cfg.Loop
	if s.inside > 0 {
		a.touch()
		return
	}
	if now := loop.Epoch(); now != a.epoch {
		a.epoch = now
	} else if a.held < flushAt {
		if !a.deferred {
			a.deferred = true
			loop.Flush(a)
		}
		return
	}
	a.drain()
}

// Flush implements [btl.Deferred] and [stack.Association].
func (a *association) Flush() {
	a.deferred = false
	if a.s.inside > 0 {
		a.touch()
		return
	}
	a.drain()
}

// Resume implements [datagram.Waiter].
func (a *association) Resume() bool {
	a.blocked, a.waits = false, a.waits[:0]
	a.drain()
	return true
}

// block waits until a socket has room, and tells it so once.
func (a *association) block(so *socket) {
	a.blocked, a.since = true, a.s.cfg.Loop.Now()
	if !slices.Contains(a.waits, so) {
		a.waits = append(a.waits, so)
		so.Block(a)
	}
}

// mostBlocked is for how long a socket that has no room has all wait. An interface that stands still may have none for ever, and then
// what is for it is lost, so that the protocol finds out, and other paths go on.
const mostBlocked = int64(time.Second)

// tick is called when the protocol has something to do.
func (a *association) tick(now int64) {
	s := a.s
	if s.closed {
		return
	}
	if a.blocked && now-a.since >= mostBlocked {
		a.blocked, a.kept = false, nil
	}
	s.inside++
	a.p.Tick(now)
	s.inside--
	s.work(a)
}

// Up implements [sctp.Owner].
func (a *association) Up() {
	if a.giveUp != nil {
		a.giveUp.Stop()
		a.giveUp = nil
	}
	if !a.over {
		a.h.Up()
	}
}

// Receive implements [sctp.Owner].
func (a *association) Receive(id uint16, ppid uint32, piece []byte, end bool) {
	if !a.over {
		a.h.Receive(id, ppid, piece, end)
	}
}

// Confirmed implements [sctp.Owner].
func (a *association) Confirmed(confirmed *stream.Message) {
	m := confirmed.Owner.(*message)
	f := m.frame
	if f != nil {
		m.frame = nil
		a.lent.remove(m)
	}
	a.s.messages.put(m)
	if f != nil && !a.over {
		a.h.Released(f)
	}
}

// PathChanged implements [sctp.Owner].
func (a *association) PathChanged(i int) {
	if !a.over {
		a.h.PathChanged(a.state(i))
	}
}

// Down implements [sctp.Owner].
func (a *association) Down(err error) {
	if errors.Is(err, sctp.ErrTooLong) {
		a.s.narrow.note(a.s.cfg.Loop.Now(), a.p)
	}
	if !a.over {
		a.forget()
		a.h.Down(err)
	}
}

// othersEvery is at every how many polls those sockets are looked at too at which the peer was not heard last.
const othersEvery = 8

// Poll implements [stack.Association]. Each look is a call of the system, and there is a socket for each address of the host. So it
// looks at the one at which the peer was heard last, and now and then at those of this association's other ways. The loop looks at all.
func (a *association) Poll() (did bool) {
	if a.looks++; a.heard != nil && a.looks%othersEvery != 0 {
		return a.heard.Receive()
	}
	var last *socket
	for _, w := range a.ways {
		if w.so != last {
			last = w.so
			did = last.Receive() || did
		}
	}
	return did
}

// Watch implements [stack.Association].
func (a *association) Watch() btl.Watch {
	if a.heard == nil {
		return nil
	}
	return a.heard.Watch()
}

// Streams implements [stack.Association].
func (a *association) Streams() int { return a.p.Streams() }

// Window implements [stack.Association].
func (a *association) Window() int { return a.p.Window() }

// Queued implements [stack.Association].
func (a *association) Queued() int { return a.p.Queued() }

// Unsent implements [stack.Association].
func (a *association) Unsent() int { return a.p.Unsent() }

// Remote implements [stack.Association].
func (a *association) Remote() netip.AddrPort { return a.p.Remote() }

// Trust implements [stack.Association].
func (a *association) Trust() { a.p.Trust() }

// Addresses implements [stack.Association].
func (a *association) Addresses() (local, remote string) {
	p := a.p.Path(0).Pair
	return p.Local.String(), a.p.Remote().String()
}

// Calls implements [stack.Association].
func (a *association) Calls() (sent, received uint64) { return a.sent, a.received }

// Abort implements [stack.Association].
func (a *association) Abort() {
	if a.over {
		return
	}
	severed := a.severed
	a.forget()
	if severed {
		a.p.Discard()
		return
	}
	a.kept = nil
	a.p.Abort("")
	a.s.work(a)
}

// Release implements [stack.Association]. Nobody goes on when the process has ended, nor waits for room.
func (a *association) Release() {
	a.blocked = false
	a.Abort()
}

// Sever implements [stack.Association].
func (a *association) Sever() {
	if !a.severed && !a.over {
		a.severed = true
		a.s.severed++
	}
}

// Paths implements [stack.Association].
func (a *association) Paths() []btl.PathState {
	all := make([]btl.PathState, a.p.Paths())
	for i := range all {
		all[i] = a.state(i)
	}
	return all
}

func (a *association) state(i int) btl.PathState {
	p := a.p.Path(i)
	ago := time.Duration(a.s.cfg.Loop.Now() - p.Since)
	return btl.PathState{Desc: p.Local.String() + " → " + p.Remote.String(), Up: p.State == sctp.Active, Since: time.Now().Add(-ago)}
}

// Congestion implements [stack.Association].
func (a *association) Congestion() (btl.Congestion, bool) {
	p := a.p.Path(0)
	return btl.Congestion{
		Algorithm: cmp.Or(a.s.cfg.Congestion, "reno"), Window: p.Window, RoundTrip: p.RoundTrip, Timeout: p.Timeout, Resent: int64(p.Resent), Timeouts: int64(p.Timeouts),
	}, true
}
