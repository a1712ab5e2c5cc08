package reach

// A pair is kept aside if it would work but must not be used beside other pairs. It is a spare
// pair ([Result.Spares]), which is tried when the others have failed.

// keepAside marks the pairs that serve only if no other pair does.
func (m *matching) keepAside(p Policy) {
	if !m.works((*Pair).solid) {
		return
	}
	for i := range m.pairs {
		if p := &m.pairs[i]; p.Quality > 0 {
			p.aside = p.hollow()
		}
	}
	if _, ok := p.(interface{ privateFirst() }); ok {
		m.keepPublicAside()
	}
}

// keepPublicAside keeps pairs of public addresses aside if a pair of private ones joins the hosts
// as directly. Data may go in the clear: nobody here knows whether the transport encrypts it.
func (m *matching) keepPublicAside() {
	best := 0
	for i := range m.pairs {
		if p := &m.pairs[i]; p.solid() && !p.public() {
			best = max(best, p.Quality)
		}
	}
	for i := range m.pairs {
		if p := &m.pairs[i]; p.solid() && p.public() && p.Quality <= best {
			p.aside = "its addresses are public, and private ones join the hosts as directly"
		}
	}
}

// solid reports whether the pair would work and the card that carries it is known.
func (p *Pair) solid() bool { return p.Quality > 0 && p.hollow() == "" }

// hollow says why the pair must not be used beside others, or returns "". Either it may share
// its card with another pair, or no card carries it to another host.
func (p *Pair) hollow() string {
	if p.Local.ofHost() {
		return p.Local.Addr().String() + " here is the host's own, which any card may carry, maybe the same as another pair's"
	}
	for _, end := range []struct {
		*Address
		where string
	}{{&p.Local, "here"}, {&p.Remote, "there"}} {
		switch {
		case end.Flags&Tunnel != 0 && end.Device == 0:
			return end.Interface + " " + end.where + " is a tunnel over an interface that is not known, maybe the same as another pair's"
		case end.Flags&Enclosed != 0:
			return end.Interface + " " + end.where + " is a bridge without a card, which leads to what runs on that host"
		}
	}
	return ""
}

// tunnelled reports whether one of the ends is a tunnel.
func (p *Pair) tunnelled() bool { return (p.Local.Flags|p.Remote.Flags)&Tunnel != 0 }

// public reports whether one of the ends has an address that the whole world can reach.
func (p *Pair) public() bool { return !isPrivate(p.Local.Addr()) || !isPrivate(p.Remote.Addr()) }
