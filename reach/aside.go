package reach

// A pair is kept aside if it would work and has no place beside others: only if they
// all fail is it tried, as a spare one ([Result.Spares]).

// keepAside finds the pairs that are to serve only where there is no other way.
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

// keepPublicAside has public addresses serve only where private ones join the hosts
// less directly, or not at all.
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

// solid: it would work, and it is known what carries it.
func (p *Pair) solid() bool { return p.Quality > 0 && p.hollow() == "" }

// hollow says what there is against a pair beside others: it may be carried by the
// same cards as they are, or by none that leads to another host.
func (p *Pair) hollow() string {
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

// tunnelled: a tunnel is at one of its ends.
func (p *Pair) tunnelled() bool { return (p.Local.Flags|p.Remote.Flags)&Tunnel != 0 }

// public: somebody outside of the organisation may be on the way.
func (p *Pair) public() bool { return !isPrivate(p.Local.Addr()) || !isPrivate(p.Remote.Addr()) }
