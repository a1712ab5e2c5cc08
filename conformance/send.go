package conformance

import (
	"time"

	"github.com/strandmp/strand/btl"
)

// post has frames sent, in order, as the endpoint takes them.
func (p *port) post(specs ...spec) {
	p.r.do("Endpoint.Send", func() { p.queue(specs...) })
}

// queue is post for a caller that is in a call of the rank already, such as an
// up-call.
func (p *port) queue(specs ...spec) {
	p.w.t.mu.Lock()
	p.backlog = append(p.backlog, specs...)
	p.w.t.mu.Unlock()
	p.pump()
}

// pump sends from the backlog until it is empty or the endpoint is busy.
func (p *port) pump() {
	for {
		p.w.t.mu.Lock()
		if len(p.backlog) == 0 || p.busy || p.closed || p.sawBroken {
			p.w.t.mu.Unlock()
			return
		}
		s := p.backlog[0]
		p.w.t.mu.Unlock()
		if result := p.send(s); result == btl.Taken || result == btl.Done {
			p.w.t.mu.Lock()
			p.backlog = p.backlog[1:]
			p.w.t.tell()
			p.w.t.mu.Unlock()
		}
	}
}

// send offers one frame to the endpoint, and looks now and then at what that keeps.
func (p *port) send(s spec) btl.Result {
	result := p.offer(s)
	if result == btl.Done {
		p.glance()
	}
	return result
}

// offer offers one frame to the endpoint.
func (p *port) offer(s spec) btl.Result {
	t := p.w.t
	sh := &shipment{spec: s, from: p, to: p.peer, header: make([]byte, s.header)}
	t.mu.Lock()
	p.w.book.enter(sh)
	order := p.lane(s.lane)
	order.sent++
	sh.seq = order.sent
	sh.load(p.poison)
	p.sentSinceDown = true
	if !p.up && p.began.IsZero() {
		p.began = time.Now()
	}
	t.mu.Unlock()

	p.r.sending.Add(1)
	result := p.ep.Send(sh.frame, s.lane)
	at, kept := p.whereKept(sh, result)
	p.r.sending.Add(-1)

	t.mu.Lock()
	defer t.mu.Unlock()
	defer t.tell()
	t.events++
	switch result {
	case btl.Taken:
		sh.held = true
		p.held[sh.frame] = sh
		p.took(sh)
	case btl.Done:
		if p.w.attr.Confirms && !sh.arrived {
			t.violateLocked(ruleConfirms, "%v: Send said Done for a frame of %d bytes that has not arrived", p, s.size)
		}
		if kept {
			p.keep(sh, at)
		}
		p.took(sh)
		p.reclaim(sh)
	case btl.Busy:
		p.busy = true
		p.sawBusy++
		p.reject(sh)
	case btl.Broken:
		p.sawBroken = true
		p.reject(sh)
		if p.mustStay() {
			t.violateLocked(ruleStaysUp, "%v: Send of %d bytes said Broken", p, s.size)
		}
	default:
		p.sawBroken = true
		p.reject(sh)
		t.violateLocked(ruleResult, "%v: Send returned %d, which is no result", p, result)
	}
	return result
}

func (p *port) took(sh *shipment) {
	if p.hoard.saved && !p.closed {
		p.w.t.violateLocked(ruleKept, "%v: Send took a frame after Save", p)
	}
	p.sent.frames++
	p.sent.bytes += uint64(len(sh.header) + sh.size)
	p.w.book.take(sh)
	if p.closed || p.down {
		p.w.book.excuse(sh)
	}
}

// reject takes back a frame that was not taken: it must not arrive.
func (p *port) reject(sh *shipment) {
	if sh.arrived {
		p.w.t.violateLocked(ruleOnce, "%v: a frame arrived for which Send said that it was not taken", p)
		return
	}
	p.w.book.strike(sh)
	p.reclaim(sh)
}
