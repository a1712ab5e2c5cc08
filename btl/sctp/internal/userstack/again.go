package userstack

import (
	"encoding/binary"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Pion (v1.11.3) finds out that a packet was lost by what arrives after it. For two kinds of
// packets it can not, and waits for its timeout, a second at least:
//
//   - A packet that was sent again, and is lost again: pion's ways to find losses look at
//     first transmissions only.
//   - The last packet that a window lets out while more data waits. Nothing may be sent that
//     would arrive after it, and pion's own probe would be new data. Perhaps the packet has
//     arrived, and only the acknowledgement of the window was lost.
//
// So these packets are kept, and sent again until they are acknowledged, like the tail loss
// probes of TCP (RFC 8985, section 7). The first wait is two round trips and what an answer
// may take, the second twice that, the third four times. After that it is up to the timeout.
// While no round trip was measured there is nothing to go by, and none is sent.
//
// If a packet is lost twice, the congestion window stays as the first loss has left it, as in
// Linux's TCP within one recovery. If only the last packet of a window was lost, pion does not
// learn of it and does not halve its window, as RFC 8985, section 7.4, asks: there is no way
// to tell it. And if pion gets no other answer, it takes the time until a probe is answered
// for a round trip.

// again has the packets of one association that may have to be sent again.
type again struct {
	some atomic.Bool  // some are kept
	sent atomic.Int64 // chunks sent again

	mu   sync.Mutex
	kept []*probe
	tail probe // the last one of a window
}

// A probe is a packet, and when it is to be sent again.
type probe struct {
	packet []byte
	tsns   []uint32 // of its chunks that are not acknowledged
	at     int64    // when it was sent last, in nanoseconds
	times  int      // that it was sent again
}

const (
	// maxProbes bounds what is kept; more than that are left to the timeout.
	maxProbes = 64
	// maxTimes that a packet is sent again.
	maxTimes = 3
	// answerTime is what a peer may take to answer, beyond the round trip.
	answerTime = 10 * time.Millisecond
	// maxBurst bounds the packets that are sent at once. burstTime lies between two bursts.
	maxBurst  = 4
	burstTime = time.Millisecond
	// maxGaps bounds the gap blocks of an acknowledgement that are read. What further blocks
	// acknowledge counts as not acknowledged.
	maxGaps = 256
)

var started = time.Now()

// monotonic is the time that all goroutines have in common.
func monotonic() int64 { return int64(time.Since(started)) }

// keep takes a copy of a packet that was sent again. What was kept of its chunks is
// forgotten.
func (g *again) keep(b []byte, tsns []uint32, now int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(func(tsn uint32) bool { return slices.Contains(tsns, tsn) })
	if len(g.kept) < maxProbes {
		g.kept = append(g.kept, &probe{packet: slices.Clone(b), tsns: slices.Clone(tsns), at: now})
	}
	g.note()
}

// keepTail takes a copy of the last packet of a window. It replaces that of the window
// before.
func (g *again) keepTail(b []byte, tsns []uint32, now int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	t := &g.tail
	*t = probe{packet: append(t.packet[:0], b...), tsns: append(t.tsns[:0], tsns...), at: now}
	g.note()
}

// drop forgets chunks, and packets none of whose chunks are left.
func (g *again) drop(gone func(tsn uint32) bool) {
	g.tail.tsns = slices.DeleteFunc(g.tail.tsns, gone)
	g.kept = slices.DeleteFunc(g.kept, func(p *probe) bool {
		p.tsns = slices.DeleteFunc(p.tsns, gone)
		return len(p.tsns) == 0
	})
	g.note()
}

func (g *again) note() { g.some.Store(len(g.kept)+len(g.tail.tsns) > 0) }

// A SACK chunk (RFC 9260, section 3.3.4).
const (
	sackHead = 16
	gapSize  = 4
)

// acknowledged takes a SACK chunk.
func (g *again) acknowledged(c []byte) {
	if !g.some.Load() || len(c) < sackHead {
		return
	}
	be := binary.BigEndian
	up := be.Uint32(c[4:])
	gaps := c[sackHead:min(len(c), sackHead+gapSize*min(int(be.Uint16(c[12:])), maxGaps))]
	g.mu.Lock()
	defer g.mu.Unlock()
	g.drop(func(tsn uint32) bool {
		beyond := int32(tsn - up)
		for b := gaps; beyond > 0 && len(b) >= gapSize; b = b[gapSize:] {
			if beyond >= int32(be.Uint16(b)) && beyond <= int32(be.Uint16(b[2:])) {
				return true
			}
		}
		return beyond <= 0
	})
}

// look sends what is due, and returns when to look again, 0 if nothing is kept. Wait is the
// time for the first answer; it doubles each time. Send reports whether the packet has left.
// It must not block: pion's writer waits meanwhile for the lock, to keep another packet.
func (g *again) look(now int64, wait time.Duration, send func(b []byte) bool) (next int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	burst := 0
	tend := func(p *probe) (over bool) {
		due := p.at + int64(wait)<<p.times
		if due <= now && burst == maxBurst {
			due = now + int64(burstTime)
		} else if due <= now {
			burst++
			p.at = now
			p.times++
			if send(p.packet) {
				g.sent.Add(int64(len(p.tsns)))
			}
			if p.times == maxTimes {
				return true
			}
			due = now + int64(wait)<<p.times
		}
		if next == 0 || due < next {
			next = due
		}
		return false
	}
	g.kept = slices.DeleteFunc(g.kept, tend)
	if len(g.tail.tsns) > 0 && tend(&g.tail) {
		g.tail.tsns = g.tail.tsns[:0]
	}
	g.note()
	if next == 0 {
		return 0
	}
	return min(next, now+int64(wait)) // others may be kept in the meantime
}

// roundTrip is that of the association, 0 if none was measured.
func (a *association) roundTrip() time.Duration {
	if a.pion == nil {
		return 0
	}
	return time.Duration(a.pion.SRTT() * float64(time.Millisecond))
}

// sendAgain looks after what may have to be sent again, as long as there is something.
func (a *association) sendAgain() {
	a.againTimer = nil
	trip := a.roundTrip()
	if a.ended || a.reason != nil || trip == 0 {
		return
	}
	a.tending.Store(false) // from now on, whoever keeps a packet puts the association on the list
	now := monotonic()
	next := a.conn.again.look(now, 2*trip+answerTime, a.conn.probe)
	if next > 0 {
		a.tending.Store(true)
		a.againTimer = a.s.cfg.Loop.After(time.Duration(next-now), a.sendAgain)
	}
}

// probe gives the network a packet once more, if it takes it at once: the engine has other
// work.
func (c *conn) probe(b []byte) bool {
	if c.a.severed.Load() || !c.a.so.give(b, &c.a.to, false) {
		return false
	}
	c.sent.Add(1)
	return true
}
