package userstack

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"syscall"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/overdue"
	"github.com/strandmp/strand/internal/rawio"
)

// A setup is an association that we have begun and that is not established yet
// (COOKIE-WAIT and COOKIE-ECHOED of RFC 9260). Until somebody answers, the INIT goes to
// the peer's addresses by turns.
type setup struct {
	a      *association
	ways   []way
	said   int    // INITs, so far
	began  int64  // when the last one was sent
	packet []byte // INIT, then COOKIE ECHO
	echoed bool
	wait   time.Duration // to the next repetition
	repeat btl.Timer
	limit  btl.Timer
}

// A way is one pair of addresses: a socket of ours and an address of the peer's.
type way struct {
	so     *socket
	remote netip.AddrPort
	nearby bool
}

const (
	// nextWay is how long a way is tried alone before the next is tried as well.
	nextWay = 250 * time.Millisecond
	// leastEcho is the shortest time in which a cookie is echoed again.
	leastEcho = 50 * time.Millisecond
)

func (t *setup) stop() {
	for _, timer := range []btl.Timer{t.repeat, t.limit} {
		if timer != nil {
			timer.Stop()
		}
	}
}

// Associate implements [stack.Stack].
func (s *Stack) Associate(r stack.Route, h stack.Handler) (stack.Association, error) {
	ways := s.ways(r)
	if len(ways) == 0 {
		return nil, fmt.Errorf("no UDP socket at %v: %w", r.Pairs[0].Local, syscall.EADDRNOTAVAIL)
	}
	a := s.newAssociation(ways[0].so, ways[0].remote, ways[0].nearby)
	a.h = h
	a.ours = s.opening()
	a.setup = &setup{a: a, ways: ways, wait: s.cfg.RTOInitial}
	a.setup.packet = a.ours.ask()
	a.setup.limit = overdue.After(s.cfg.Loop, s.cfg.ConnectTimeout, func() {
		a.finish(fmt.Errorf("no answer in %v%s: %w", s.cfg.ConnectTimeout, others(len(ways)), syscall.ETIMEDOUT))
	})
	s.byTag[a.ours.tag] = a
	a.setup.say()
	return a, nil
}

// others says, for people, that more was tried than the first pair of addresses.
func others(ways int) string {
	if ways == 1 {
		return ""
	}
	return fmt.Sprintf(", nor by %d other pairs of addresses", ways-1)
}

// ways are the pairs of a route that begin at one of our sockets.
func (s *Stack) ways(r stack.Route) []way {
	var all []way
	for _, p := range r.Pairs {
		if so := s.socketFor(p); so != nil {
			all = append(all, way{so, p.Remote, p.Nearby})
		}
	}
	return all
}

// use makes the association use a way.
func (a *association) use(w way) {
	a.so, a.remote, a.to, a.mtu = w.so, w.remote, rawio.NewDestination(w.remote), a.s.cfg.MTU
	if w.nearby {
		a.mtu = a.s.cfg.LoopbackMTU
	}
}

// from is the way by which a packet has come, among those that were tried.
func (t *setup) from(so *socket, from netip.AddrPort) (way, bool) {
	i := slices.IndexFunc(t.ways, func(w way) bool { return w.so == so && same(w.remote, from) })
	if i < 0 {
		return way{}, false
	}
	return t.ways[i], true
}

// socketFor finds the socket to send from.
func (s *Stack) socketFor(p stack.Pair) *socket {
	var family *socket
	for _, so := range s.sockets {
		local := so.local.Addr().WithZone("")
		switch {
		case p.Local.IsValid() && local == p.Local.WithZone(""):
			return so
		case !p.Local.IsValid() && local == p.Remote.Addr().WithZone(""):
			return so
		case family == nil && local.Is4() == p.Remote.Addr().Is4():
			family = so
		}
	}
	if p.Local.IsValid() {
		return nil
	}
	return family
}

func (s *Stack) newAssociation(so *socket, remote netip.AddrPort, nearby bool) *association {
	a := &association{s: s}
	a.use(way{so, remote, nearby})
	return a
}

// opening is what this side says of a new association.
func (s *Stack) opening() opening {
	o := opening{window: uint32(s.cfg.ReceiveBuffer), out: uint16(s.cfg.Streams), in: uint16(s.cfg.Streams), interleave: s.cfg.Interleave}
	var b [8]byte
	for o.tag == 0 || s.byTag[o.tag] != nil {
		rand.Read(b[:])
		o.tag, o.tsn = binary.BigEndian.Uint32(b[:]), binary.BigEndian.Uint32(b[4:])
	}
	return o
}

// say sends the packet, and again as long as there is no answer: an INIT by the next way.
func (t *setup) say() {
	a := t.a
	pause := t.wait
	if t.echoed {
		t.wait = min(2*t.wait, a.s.cfg.RTOMax)
	} else {
		pause = t.turn()
	}
	a.s.send(a.so, t.packet, a)
	t.repeat = a.s.cfg.Loop.After(pause, t.say)
}

// turn takes the next way, and returns how long to wait for the one after it: a short time
// while some were not tried yet, a longer one with every round.
func (t *setup) turn() time.Duration {
	n := len(t.ways)
	t.a.use(t.ways[t.said%n])
	t.said++
	t.began = t.a.s.cfg.Loop.Now()
	pause := t.wait / time.Duration(n)
	if t.said < n {
		return min(nextWay, t.wait)
	}
	if t.said%n == 0 {
		t.wait = min(2*t.wait, t.a.s.cfg.RTOMax)
	}
	return pause
}

// refused: nobody is there by one of the ways. The others are tried at once.
func (t *setup) refused(remote netip.AddrPort, why error) {
	t.ways = slices.DeleteFunc(t.ways, func(w way) bool { return same(w.remote, remote) })
	if len(t.ways) == 0 {
		t.a.finish(why)
		return
	}
	if same(t.a.remote, remote) {
		t.repeat.Stop()
		t.said = 0
		t.say()
	}
}

// answered takes a packet of the peer's.
func (t *setup) answered(b []byte) error {
	c := first(b)
	if c == nil {
		return errForm
	}
	switch c[0] {
	case chunkInitAck:
		if t.echoed {
			return nil // it comes twice
		}
		return t.acknowledged(c)
	case chunkCookieAck:
		if !t.echoed {
			return fmt.Errorf("%w: COOKIE ACK without a cookie", errForm)
		}
		a := t.a
		t.stop()
		if err := a.establish(); err != nil {
			a.finish(err)
			return nil
		}
		a.h.Up()
	case chunkAbort:
		t.a.finish(syscall.ECONNREFUSED)
	}
	return nil
}

// acknowledged echoes the cookie.
func (t *setup) acknowledged(c []byte) error {
	a := t.a
	o, err := parseOpening(c)
	if err != nil {
		return err
	}
	if o.cookie == nil {
		return fmt.Errorf("%w: INIT ACK without a cookie", errForm)
	}
	cookie := o.cookie
	o.cookie = nil
	a.theirs = *o
	t.echoed = true
	t.repeat.Stop()
	t.wait = t.echoAgain()
	t.packet = seal(append(newPacket(o.tag, chunkCookieEcho, 0), cookie...))
	t.say()
	return nil
}

// echoAgain is the time until the cookie is echoed again. The round trip is known by now: RFC
// 9260, 6.3.1, counts that of INIT. The time is short since an acceptor that is crowded by
// strangers leaves a cookie unanswered, and has room for whoever asks again soon.
func (t *setup) echoAgain() time.Duration {
	c := t.a.s.cfg
	trip := time.Duration(c.Loop.Now() - t.began)
	return min(max(3*trip, leastEcho), c.RTOInitial)
}
