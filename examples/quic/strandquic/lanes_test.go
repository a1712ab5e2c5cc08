package strandquic

import (
	"context"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

const (
	lanesTried = 8
	// long is the payload of the frame whose packets are lost: no other makes packets as large.
	long = 900
)

// A lossy socket loses the large packets while it is told to.
type lossy struct {
	net.PacketConn
	loses         atomic.Bool
	lost, carried func()
}

// WriteTo implements [net.PacketConn].
func (l *lossy) WriteTo(b []byte, to net.Addr) (int, error) {
	if l.loses.Load() && len(b) > long {
		l.lost()
		return len(b), nil
	}
	n, err := l.PacketConn.WriteTo(b, to)
	l.carried()
	return n, err
}

// lose sends a long frame in lane 0. Its packet is lost, as is every repetition. Then lose sends
// short frames in the lanes that next returns, until enough returns true. It returns the order in
// which the frames have arrived, and the time until the first short one.
func lose(t *testing.T, next func(i int) int, enough func(p *pair, carried int) bool) (order []string, after time.Duration) {
	var l *lossy
	p := newPair(t, func(c net.PacketConn) net.PacketConn {
		if l != nil {
			t.Fatal("there is more than one socket")
		}
		l = &lossy{PacketConn: c, lost: func() {}, carried: func() {}}
		return l
	})
	var lost, carried int
	l.lost = func() { p.loop.Post(func() { lost++ }) }
	l.carried = func() { p.loop.Post(func() { carried++ }) }
	p.connect(lanesTried)
	p.until("the first frames", func() bool { return len(p.arrived()) == lanesTried })

	l.loses.Store(true)
	p.send(0, strings.Repeat("x", long))
	p.until("a loss", func() bool { return lost > 0 })
	before, seen, sent := carried, 0, 0
	start := time.Now()
	note := func() bool {
		if after == 0 && slices.Contains(p.arrived(), "short") {
			after = time.Since(start)
		}
		return true
	}
	p.until("what does not wait", func() bool {
		if note() && enough(p, carried-before) {
			return true
		}
		// After each loss there is time until the next repetition: a frame sent now goes in
		// a packet of its own.
		if lost > seen && sent < lanesTried-1 {
			seen = lost
			p.send(next(sent), "short")
			sent++
		}
		return false
	})
	l.loses.Store(false)
	p.until("all frames", func() bool { return note() && len(p.arrived()) == lanesTried+1+sent })
	if p.recv.Downs > 0 {
		t.Fatal(p.recv.Err)
	}
	return p.arrived()[lanesTried:], after
}

// A packet that is lost delays the lane that it was of, and no other.
func TestALostPacketDelaysItsOwnLane(t *testing.T) {
	order, after := lose(t, func(i int) int { return 1 + i }, func(p *pair, _ int) bool { return slices.Contains(p.arrived(), "short") })
	if order[0] != "short" {
		t.Errorf("the frame of another lane came after the lost one: %.20q", order)
	}
	t.Logf("lane 0's packet is lost again and again; a frame of another lane arrives after %v, meanwhile", after)
}

// And within its lane everything waits: the test above tells streams from none.
func TestALostPacketHoldsUpItsLane(t *testing.T) {
	order, after := lose(t, func(int) int { return 0 }, func(p *pair, carried int) bool {
		if slices.Contains(p.arrived(), "short") {
			t.Error("a frame has overtaken one of its own lane")
		}
		return carried > 0
	})
	if order[0] == "short" {
		t.Errorf("a frame has overtaken one of its own lane: %.20q", order)
	}
	t.Logf("lane 0's packet is lost; a frame of the same lane arrives after %v, when it has been sent again", after)
}

// The lanes' readers wait for their streams one after the other.
func TestStreamsAreAcceptedOneByOne(t *testing.T) {
	var within, accepted atomic.Int32
	accept := oneByOne(func(context.Context) (int32, error) {
		if within.Add(1) > 1 {
			t.Error("two wait at a time")
		}
		runtime.Gosched() // the others come
		within.Add(-1)
		return accepted.Add(1), nil
	})
	var readers sync.WaitGroup
	for range 100 {
		readers.Go(func() { _, _ = accept(t.Context()) })
	}
	readers.Wait()
	if accepted.Load() != 100 {
		t.Errorf("%d streams were accepted", accepted.Load())
	}
}
