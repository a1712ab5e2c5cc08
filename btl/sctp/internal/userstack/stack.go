package userstack

import (
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btl/sctp/internal/stack"
	"github.com/strandmp/strand/internal/rawio"
)

// A Stack is SCTP over UDP in this process.
type Stack struct {
	cfg     *config
	sockets []*socket
	baker   *baker
	byTag   map[uint32]*association // by our name for it
	beats   btl.Timer
	helped  btl.Helped // if the loop wants to know
	kicked  int        // how often pion's goroutines are to be let in, since they have something to do
	closed  bool
	working bool   // in Progress
	message []byte // one that is being handed over
	out     []byte // one that is being sent

	// The associations that have news.
	mu      sync.Mutex
	list    []*association
	spare   []*association
	pending atomic.Bool // the list is not empty
	posted  atomic.Bool // wake is to be called

	filter atomic.Pointer[func(packet []byte) bool]
}

var _ stack.Stack = (*Stack)(nil)

// Open opens the sockets.
func Open(c stack.Config) (*Stack, error) {
	cfg, err := configure(c)
	if err != nil {
		return nil, err
	}
	s := &Stack{cfg: cfg, baker: newBaker(), byTag: make(map[uint32]*association),
		message: make([]byte, c.MaxMessage), out: make([]byte, c.MaxMessage)}
	s.helped, _ = c.Loop.(btl.Helped)
	if s.sockets, err = openSockets(cfg); err != nil {
		return nil, err
	}
	for _, so := range s.sockets {
		so.s = s
		if so.watch, err = cfg.Loop.Watch(so.fd, so); err != nil {
			so.watch = nil
			for _, so := range s.sockets {
				so.close()
			}
			return nil, err
		}
	}
	s.checkBuffers(c)
	return s, nil
}

// checkBuffers tells of a size that was asked for and that the system has not given.
func (s *Stack) checkBuffers(asked stack.Config) {
	for _, b := range []struct {
		what, limit string
		asked       int
		got         func(fd int) (int, error)
	}{
		{"send", "wmem_max", asked.SendBuffer, rawio.SendBuffer},
		{"receive", "rmem_max", asked.ReceiveBuffer, rawio.ReceiveBuffer},
	} {
		if got, err := b.got(s.sockets[0].fd); err == nil && got < b.asked {
			s.cfg.Warn(netip.AddrPort{}, fmt.Errorf("the system gives a socket a %s buffer of %d bytes, %d were asked for (sysctl net.core.%s=%[3]d)",
				b.what, got, b.asked, b.limit))
		}
	}
}

// Port implements [stack.Stack].
func (s *Stack) Port() uint16 { return s.sockets[0].local.Port() }

// MaxMessage implements [stack.Stack]. Associations share no buffer, but the streams of one do. A
// message on each stream can be half arrived. What has arrived of it is acknowledged, so it no
// longer counts as under way, but it fills the window until its rest has come. There must be room
// for the rest.
func (s *Stack) MaxMessage() int {
	return min(s.cfg.MaxMessage, s.cfg.ReceiveBuffer/(s.cfg.Streams+1))
}

// Filter has f look at each packet before it is sent, from any goroutine: false
// loses it. For tests.
func (s *Stack) Filter(f func(packet []byte) bool) { s.filter.Store(&f) }

// nearby reports whether an address is of this machine.
func (s *Stack) nearby(ip netip.Addr) bool {
	for _, so := range s.sockets {
		if so.local.Addr().WithZone("") == ip.WithZone("") {
			return true
		}
	}
	return ip.IsLoopback()
}

// announce puts an association on the list of those that have news. Any goroutine
// may call it.
func (s *Stack) announce(a *association) {
	s.mu.Lock()
	s.list = append(s.list, a)
	s.mu.Unlock()
	s.pending.Store(true)
	if !s.posted.Swap(true) {
		s.cfg.Loop.Post(s.wake) // the engine may be asleep
	}
}

func (s *Stack) wake() {
	s.posted.Store(false)
	if !s.closed {
		s.Progress()
	}
}

// Progress implements [stack.Stack].
func (s *Stack) Progress() bool {
	if s.working {
		return false // a handler polls: s.message still holds what it was handed
	}
	s.letPionIn()
	if !s.pending.Load() {
		return false
	}
	s.working = true
	defer func() { s.working = false }()
	s.pending.Store(false)
	s.mu.Lock()
	list := s.list
	s.list, s.spare = s.spare[:0], nil
	s.mu.Unlock()
	for i, a := range list {
		list[i] = nil
		a.listed.Store(false)
		a.look()
	}
	s.spare = list
	for _, so := range s.sockets {
		if so.held != nil {
			so.read() // there may be room now, and nothing else to say so
		}
	}
	return len(list) > 0
}

// Linger implements [stack.Stack].
func (s *Stack) Linger() {
	fds := make([]int, len(s.sockets))
	for i, so := range s.sockets {
		fds[i] = so.fd
	}
	if !s.Progress() {
		rawio.WaitAny(fds, 1)
	}
	for _, a := range s.byTag {
		if a.againTimer != nil { // timers do not fire during the call
			a.againTimer.Stop()
			a.sendAgain()
		}
	}
	for _, so := range s.sockets {
		so.read()
	}
	s.Progress()
}

// send gives the network a packet of ours for an association.
func (s *Stack) send(so *socket, b []byte, a *association) {
	if !a.severed.Load() {
		so.send(b, &a.to)
	}
}

// remove forgets an association.
func (s *Stack) remove(a *association) {
	delete(s.byTag, a.ours.tag)
	for _, so := range s.sockets {
		if so.holder == a {
			so.held, so.holder = nil, nil
		}
	}
	if len(s.byTag) == 0 && s.beats != nil {
		s.beats.Stop()
		s.beats = nil
	}
}

// Farewell implements [stack.Stack]. It is as long as pion's probe and all of ours take (again.go).
// So the end is missed only if its packet is lost five times.
func (s *Stack) Farewell() time.Duration {
	const (
		trips = 2 + 2<<maxTimes
		most  = 2 * time.Second
	)
	longest := time.Duration(0)
	for _, a := range s.byTag {
		longest = max(longest, a.roundTrip())
	}
	return min(trips*longest, most)
}

// Close implements [stack.Stack].
func (s *Stack) Close() error {
	if s.closed {
		return nil
	}
	s.closed = true
	for _, a := range s.byTag {
		a.Abort()
	}
	for _, so := range s.sockets {
		so.close()
	}
	return nil
}
