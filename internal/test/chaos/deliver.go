package chaos

import (
	"slices"

	"github.com/strandmp/strand/btl"
)

// arrive takes a packet from the network.
func (e *endpoint) arrive(p *packet) {
	if e.state == ended {
		return
	}
	p.wait = e.m.polls()
	if p.lane == 0 && e.m.config.SlowLane {
		p.wait *= 5
	}
	e.pool = append(e.pool, p)
	e.m.stir(e)
}

// deliver moves the packets whose time has come, in any order that is allowed.
func (e *endpoint) deliver() bool {
	ready := 0
	for _, p := range e.pool {
		if p.wait > 0 {
			p.wait--
		} else {
			ready++
		}
	}
	var done []*packet
	did := false
	for ; ready > 0 && e.state != ended; ready-- {
		p := e.choose()
		if p == nil {
			break
		}
		did = true
		if p.goodbye {
			e.down(btl.ErrPeerClosed)
			break
		}
		whole, err := e.handOver(p)
		if err != nil {
			e.fail("receiving", err)
			break
		}
		if !whole {
			p.wait = 1 + e.m.polls()
			continue
		}
		if i := slices.Index(e.pool, p); i >= 0 {
			e.pool = slices.Delete(e.pool, i, i+1)
		}
		done = append(done, p)
		if cut := e.m.config.Cut; cut > 0 && e.remote != e && e.heardOf && e.state != ended && e.m.random.IntN(cut) == 0 {
			e.fail("receiving", errCut) // in the middle of others
		}
	}
	if r := e.remote; len(done) > 0 && r != nil {
		r.m.post(func() { r.arrived(done) })
	}
	return did
}

// choose draws one of the packets that may move now, or returns nil. The
// connection's end comes after everything else.
func (e *endpoint) choose() *packet {
	start := e.m.random.IntN(len(e.pool))
	for i := range e.pool {
		p := e.pool[(start+i)%len(e.pool)]
		if p.wait > 0 || p.goodbye && len(e.pool) > 1 {
			continue
		}
		if e.m.config.Ordered && !p.goodbye {
			if p = e.firstOfLane(p.lane); p.wait > 0 {
				continue
			}
		}
		return p
	}
	return nil
}

func (e *endpoint) firstOfLane(lane int) *packet {
	i := slices.IndexFunc(e.pool, func(p *packet) bool { return p.lane == lane && !p.goodbye })
	return e.pool[i]
}

// handOver gives the receiver a frame, or the next piece of one.
func (e *endpoint) handOver(p *packet) (whole bool, err error) {
	chunk := e.m.config.Chunk
	if p.size <= chunk {
		return true, e.receiver.Deliver(p.header, p.bytes())
	}
	if p.landing == nil {
		p.landing, err = e.receiver.Begin(p.header, p.size)
		return false, err
	}
	// A chunk of one byte would take a megabyte a million polls.
	n := max(1+e.m.random.IntN(chunk), p.size/16)
	p.read += p.landing.Fill(p.bytes()[p.read:min(p.read+n, p.size)])
	if p.landing.Left() > 0 {
		return false, nil
	}
	l := p.landing
	p.landing = nil
	return true, e.receiver.End(l)
}
