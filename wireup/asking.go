package wireup

import "slices"

// asking is one question to the host for the key that this process shares with a rank, and the
// links that wait for the answer. However many wait, the host is asked once. A link that gives up
// is forgotten at once. So the places of strangers bound what they cost, however long the
// launcher takes.
type asking struct{ waiting []*Pending }

// awaitKey calls found with the key that this process shares with a rank, once the key is known. It
// does not if the link has become an endpoint's by then, or is over.
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

// answer tells all that still wait. It takes them one by one, since what one of them does may end others.
func (a *asking) answer(key []byte, err error) {
	for len(a.waiting) > 0 {
		p := a.waiting[0]
		found := p.found
		p.giveUpKey()
		found(key, err)
	}
}

// giveUpKey ends the wait for a key, if there is one.
func (p *Pending) giveUpKey() {
	if a := p.asks; a != nil {
		i := slices.Index(a.waiting, p)
		a.waiting = slices.Delete(a.waiting, i, i+1)
		p.asks, p.found = nil, nil
	}
}
