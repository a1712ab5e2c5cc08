package wireup

import "slices"

// asking is one question to the host for the key that this process shares with a rank, and who
// waits for the answer. However many wait the host is asked once, and who gives up is forgotten
// at once: so what strangers cost is bounded by their places, however long the launcher takes.
type asking struct{ waiting []*Pending }

// awaitKey has found called with the key of this process and a rank, unless the link is an endpoint's,
// or over, before that is known.
func (p *Pending) awaitKey(rank int, found func(key []byte, err error)) {
	p.giveUpKey()
	m := p.m
	a, asked := m.asking[rank]
	if !asked {
		a = new(asking)
		m.asking[rank] = a
	}
	a.waiting = append(a.waiting, p)
	p.asks, p.found = a, found
	if !asked {
		m.host.PairKey(rank, func(key []byte, err error) {
			delete(m.asking, rank)
			a.answer(key, err)
		})
	}
}

// answer tells all that still wait. What one of them does may end others.
func (a *asking) answer(key []byte, err error) {
	for len(a.waiting) > 0 {
		p := a.waiting[0]
		found := p.found
		p.giveUpKey()
		found(key, err)
	}
}

// giveUpKey: nobody waits for a key here any more.
func (p *Pending) giveUpKey() {
	if a := p.asks; a != nil {
		i := slices.Index(a.waiting, p)
		a.waiting = slices.Delete(a.waiting, i, i+1)
		p.asks, p.found = nil, nil
	}
}
