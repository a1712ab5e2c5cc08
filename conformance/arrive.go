package conformance

import (
	"errors"
	"strings"

	"github.com/strandmp/strand/btl"
)

// errRule answers an up-call that should not have been made.
var errRule = errors.New("conformance: an up-call against the rules")

// breach returns the answer to an up-call that should not have been made. The transport then ends that connection, as it has to.
func (p *port) breach() error {
	p.w.breached.Store(true)
	return errRule
}

// errStranger answers a frame that nobody sent, where the case tampers with the
// wire.
var errStranger = errors.New("conformance: a frame that nobody sent")

// Deliver implements [btl.Receiver].
func (p *port) Deliver(header, payload []byte) error {
	if !p.enter("Deliver") {
		return p.breach()
	}
	defer p.leave()
	sh, err := p.claim(header, len(payload))
	if err != nil {
		return err
	}
	if at := noise.differs(payload, sh.id, 0); at >= 0 {
		if p.strangers {
			return errStranger
		}
		p.w.t.violateLocked(sh.contents(), "%v: byte %d of a payload of %d bytes is not the one that was sent", p, at, sh.size)
	}
	return p.arrived(sh, "Deliver")
}

// claim finds the shipment that a header belongs to. Mu is held.
func (p *port) claim(header []byte, size int) (*shipment, error) {
	t := p.w.t
	sh := p.w.book.expected[bookKey(p.r.id, header)]
	switch {
	case sh == nil && p.strangers:
		return nil, errStranger
	case sh == nil:
		p.unknown(header, size)
		return nil, p.breach()
	case sh.size != size:
		if p.strangers {
			return nil, errStranger
		}
		t.violateLocked(ruleIntact, "%v: a frame of %d bytes arrived as one of %d", p, sh.size, size)
		return nil, p.breach()
	case sh.from.r.id != p.peer:
		t.violateLocked(ruleAddressed, "%v: a frame of rank %d arrived here", p, sh.from.r.id)
	case sh.shown:
		t.violateLocked(ruleOnce, "%v: the header of a frame of %d bytes was shown twice", p, sh.size)
		return nil, p.breach()
	}
	sh.shown = true
	order := sh.from.lane(sh.lane)
	if p.w.attr.Ordered && sh.seq < order.shown {
		t.violateLocked(ruleOrdered, "%v: frame %d of lane %d came after frame %d", p, sh.seq, sh.lane, order.shown)
	}
	order.shown = max(order.shown, sh.seq)
	return sh, nil
}

// unknown reports a header that no frame under way has. Mu is held.
func (p *port) unknown(header []byte, size int) {
	t := p.w.t
	if fate, ok := p.w.book.gone[bookKey(p.r.id, header)]; ok {
		t.violateLocked(ruleOnce, "%v: a frame of %d bytes was delivered; %s", p, size, fate)
		return
	}
	key := bookKey(p.r.id, header)
	for other := range p.w.book.expected {
		if strings.HasPrefix(other, key) || strings.HasPrefix(key, other) {
			t.violateLocked(ruleIntact, "%v: a header of %d bytes arrived with %d", p, len(other)-1, len(header))
			return
		}
	}
	t.violateLocked(ruleIntact, "%v: a frame with a header that nobody sent: %d bytes, %x…; payload %d bytes",
		p, len(header), header[:min(8, len(header))], size)
}

// arrived notes that a frame is there, whole. Mu is held.
func (p *port) arrived(sh *shipment, step string) error {
	t := p.w.t
	order := sh.from.lane(sh.lane)
	if p.w.attr.Ordered && sh.seq < order.arrived {
		t.violateLocked(ruleOrdered, "%v: frame %d of lane %d was complete after frame %d", p, sh.seq, sh.lane, order.arrived)
	}
	order.arrived = max(order.arrived, sh.seq)
	p.w.book.arrive(sh)
	p.received.frames++
	p.received.bytes += uint64(len(sh.header) + sh.size)
	var err error
	if p.refuse != nil {
		err = p.refuse(step)
	}
	if p.react != nil && err == nil {
		p.outside(func() { p.react(sh) })
	}
	return err
}

// Begin implements [btl.Receiver].
func (p *port) Begin(header []byte, size int) (*btl.Landing, error) {
	if !p.enter("Begin") {
		return nil, p.breach()
	}
	defer p.leave()
	sh, err := p.claim(header, size)
	if err != nil {
		return nil, err
	}
	if p.refuse != nil {
		if err := p.refuse("Begin"); err != nil {
			p.w.book.excuse(sh)
			return nil, err
		}
	}
	kind := plotKind(p.w.t.noise.IntN(int(plotKinds)))
	if p.lay != nil {
		kind = p.lay(size)
	}
	pl := newPlot(p, sh, kind)
	p.landings[&pl.landing] = pl
	if p.onBegin != nil {
		p.onBegin(pl)
	}
	return &pl.landing, nil
}

// End implements [btl.Receiver].
func (p *port) End(l *btl.Landing) error {
	if !p.enter("End") {
		return p.breach()
	}
	defer p.leave()
	pl := p.landings[l]
	if pl == nil {
		p.w.t.violateLocked(ruleLanding, "%v: End for a landing that is not open", p)
		return p.breach()
	}
	delete(p.landings, l)
	if left := l.Left(); left != 0 {
		p.w.t.violateLocked(ruleLanding, "%v: End was called while %d of %d bytes were still to come", p, left, pl.sh.size)
	}
	pl.take()
	l.Set(0, nil, nil, nil) // the plot is watched for a while, and needs no scratch for that
	return p.arrived(pl.sh, "End")
}

// Drop implements [btl.Receiver].
func (p *port) Drop(l *btl.Landing) {
	if !p.enter("Drop") {
		return
	}
	defer p.leave()
	pl := p.landings[l]
	if pl == nil {
		p.w.t.violateLocked(ruleLanding, "%v: Drop for a landing that is not open", p)
		return
	}
	delete(p.landings, l)
	pl.take()
	pl.sh.shown = false // its sender's endpoint goes down too
	if p.onDrop != nil {
		p.onDrop(pl)
	}
}
