// Package crowd finds out what many peers cost one module of a transport.
//
// Only Strand itself imports this package. It is no promise: it changes with any version.
package crowd

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/btltest"
	"github.com/strandmp/strand/param"
)

// A Weight is what each peer costs, in bytes of the heap.
type Weight struct {
	Idle int // a connection, at one end of it
	Busy int // more at both ends, in the midst of a megabyte to it
	Rest int // more at both ends, some seconds after all has arrived
}

// A crowd is many ranks, each with a module of its own, that connect to hubs. One test turns them all. Each rank has a clock
// of its own, so that nothing happens to a rank unless it is its turn.
type crowd struct {
	t        *testing.T
	make     func(rank int) *btltest.Host
	hosts    []*btltest.Host
	modules  []btl.Module
	hubs     []*hub
	begun    map[string]bool // frames that have, by their headers, and have not arrived
	received []int
}

// A hub has a connection with each of the others.
type hub struct {
	host   *btltest.Host
	ours   []btl.Endpoint
	theirs []btl.Endpoint
	recv   []*btltest.Receiver // that of ours,
	their  []*btltest.Receiver // and of theirs
}

const hubs = 2

// Weigh connects so many peers with one module, sends to all of them, and says what that takes. Each peer is a module too. So
// the test fails if the one has more than one socket, or a goroutine for any of them.
func Weigh(t *testing.T, component btl.Component, peers int, settings ...param.Setting) (w Weight) {
	c := &crowd{t: t, begun: make(map[string]bool), received: make([]int, peers), make: func(rank int) *btltest.Host {
		return btltest.NewHost(t, rank, hubs+peers, component, settings...)
	}}
	for i := range peers {
		h := c.make(hubs + i)
		c.hosts, c.modules = append(c.hosts, h), append(c.modules, h.Open())
	}
	c.meet() // whatever the modules need once
	routines, before := runtime.NumGoroutine(), heap()
	hub := c.meet()
	if n := len(hub.host.Clock.Watches()); n != 1 {
		t.Errorf("%d sockets", n)
	}
	w.Idle = (heap() - before) / peers / 2 // both ends of each connection are in this process

	before = heap()
	for i := range hub.ours {
		c.send(hub, i)
	}
	w.Busy = (heap() - before - len(c.begun)*len(place)) / peers
	for i := range hub.ours {
		c.until("the rest", i, func() bool { return c.received[i] == frames*len(place) })
	}
	c.settle()
	if len(c.begun) > 0 {
		t.Errorf("%d frames have not arrived", len(c.begun))
	}
	c.pass(aWhile)
	w.Rest = (heap() - before) / peers
	if n := runtime.NumGoroutine(); n != routines {
		t.Errorf("%d goroutines instead of %d", n, routines)
	}
	return w
}

// place is where all frames lie.
var place = make([]byte, 64<<10)

// frames are sent to each peer, a megabyte of them.
const frames = 16

// send sends to a peer until the transport has the last frame, and what then may be under way is.
func (c *crowd) send(h *hub, i int) {
	left := frames
	c.until("room for all frames", i, func() bool {
		for left > 0 {
			f := &btl.Frame{Header: fmt.Append(nil, i, left), Payload: place, Size: len(place)}
			if r := h.ours[i].Send(f, 0); r != btl.Taken && r != btl.Done {
				break
			}
			left--
		}
		return left == 0
	})
	turn(h.host.Clock)
}

// meet has all connect to one more hub.
func (c *crowd) meet() *hub {
	h := &hub{host: c.make(len(c.hubs))}
	m := h.host.Open()
	c.hubs = append(c.hubs, h)
	for i, host := range c.hosts {
		peer := h.host.Peer(m)
		paths, err := c.modules[i].Reach(peer)
		c.must(err)
		recv := host.NewReceiver(0)
		ep, err := c.modules[i].Connect(peer, paths[0], recv)
		c.must(err)
		if r := ep.Send(&btl.Frame{Header: []byte("h")}, 0); r != btl.Busy {
			c.t.Fatalf("the first frame: %v", r)
		}
		c.until("a connection", i, func() bool { return recv.Ups == 1 && len(h.host.Accepted) == i+1 && h.host.Accepted[i].Ups == 1 })
		c.hush(recv, i)
		c.hush(h.host.Accepted[i], i)
		h.ours, h.theirs = append(h.ours, h.host.Accepted[i].Endpoint), append(h.theirs, ep)
		h.recv, h.their = append(h.recv, h.host.Accepted[i]), append(h.their, recv)
	}
	c.t.Cleanup(func() { c.part(h) })
	c.settle()
	return h
}

func (c *crowd) must(err error) {
	c.t.Helper()
	if err != nil {
		c.t.Fatal(err)
	}
}

// hush has a receiver keep nothing.
func (c *crowd) hush(r *btltest.Receiver, i int) {
	r.OnBegin = func(header []byte, _ int) error {
		c.begun[string(header)] = true
		return nil
	}
	r.OnFrame = func(f btltest.Frame) error {
		delete(c.begun, f.Header)
		c.received[i] += len(f.Payload)
		r.Frames = nil
		return nil
	}
}

// part ends the connections, so that closing the modules has nothing to wait for.
func (c *crowd) part(h *hub) {
	for i := range h.ours {
		_ = h.ours[i].Close()
		c.until("the end", i, func() bool { return h.their[i].Downs == 1 })
		_ = h.theirs[i].Close()
	}
	c.settle()
}

func turn(l *btltest.Loop) {
	for l.Poll() || l.Turn() {
	}
}

// until turns the hubs and one of the others.
func (c *crowd) until(what string, i int, so func() bool) {
	c.t.Helper()
	for range 100_000 {
		c.turn(i)
		if so() {
			return
		}
	}
	c.t.Fatalf("waited in vain for %s with rank %d", what, hubs+i)
}

func (c *crowd) turn(i int) {
	for _, h := range c.hubs {
		turn(h.host.Clock)
		h.host.Clock.Advance(10 * time.Microsecond)
	}
	turn(c.hosts[i].Clock)
	c.hosts[i].Clock.Advance(100 * time.Microsecond)
	if i < len(c.hubs[len(c.hubs)-1].recv) {
		for _, h := range c.hubs {
			h.recv[i].Freed = nil
		}
	}
}

// settle has all that is under way arrive.
func (c *crowd) settle() {
	for i := range c.hosts {
		for range 30 {
			c.turn(i)
		}
	}
}

// aWhile is longer than a transport has to keep what it does not need, and shorter than it bears a silence.
const aWhile = 8 * time.Second

// pass lets time pass.
func (c *crowd) pass(d time.Duration) {
	for _, h := range c.hubs {
		h.host.Clock.Advance(d)
	}
	for _, h := range c.hosts {
		h.Clock.Advance(d)
	}
	c.settle()
}

// heap is how many bytes are in use.
func heap() int {
	var m runtime.MemStats
	for range 2 { // what the first one finalizes is free after the second
		runtime.GC()
	}
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}
