package pml

import (
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
	"github.com/strandmp/strand/selection"
)

// accepted is a connection that a peer has made.
type accepted struct {
	module   btl.Module
	path     int
	endpoint btl.Endpoint
}

// attachRails chooses the paths to a peer and makes a rail for each. If the peer
// was first to connect, that connection takes the place of the path that it names,
// or is a rail of its own.
func (p *PML) attachRails(pe *peer, h *wire.Hello, first *accepted) error {
	pe.host, pe.differs = h.Host, h.Traits^p.traits
	choice, err := selection.Pick(p.rank, btl.Peer{Rank: pe.rank, Host: h.Host}, p.offers(pe, h))
	if err != nil && first == nil {
		return err
	}
	for _, reason := range choice.Reasons {
		p.host.Logf(btl.LogInfo, "rank %d → rank %d: %s", p.rank, pe.rank, reason)
	}
	var chosen []*rail
	failed := make(map[*rail]error)
	for _, c := range choice.Rails {
		r := p.newRail(pe, c, h)
		if ep := first.take(c.Module, c.Path.Index); ep != nil {
			first = nil
			r.adopt(ep)
		} else if err := r.open(); err != nil {
			failed[r] = err
		}
		chosen = append(chosen, r)
	}
	pe.attach(h.Host, choice, chosen)
	pe.keepStandby(choice, h)
	for _, r := range chosen {
		if err := failed[r]; err != nil {
			p.host.Logf(btl.LogInfo, "rank %d → rank %d: %v", p.rank, pe.rank, err)
			pe.ways.Down(&r.way, err, pe.env()) // the others do without it
		}
	}
	switch {
	case first == nil:
	case first.isUrgent():
		if _, err := pe.welcomeUrgent(first); err != nil {
			return err
		}
	case pe.welcomeStandby(first) == nil:
		pe.addForeign(first)
	}
	pe.grant.Open(p.tune.creditFirst)
	return nil
}

// way is the path of the connection, as far as its endpoint tells. Its number is the one that the transport has told.
func (a *accepted) way() btl.Path {
	way := btl.Path{Desc: a.endpoint.Desc()}
	if ep, ok := a.endpoint.(btl.Pather); ok {
		way = ep.Path()
	}
	way.Index = a.path
	return way
}

// take returns the connection's endpoint if it is that of the path.
func (a *accepted) take(m btl.Module, path int) btl.Endpoint {
	if a == nil || a.module != m || a.path != path {
		return nil
	}
	return a.endpoint
}

// addForeign makes a rail of a connection that we would not have made.
func (pe *peer) addForeign(a *accepted) *rail {
	choice := pe.choice
	offer := selection.Offer{Module: a.module, Paths: []btl.Path{a.way()}, Overrides: pe.pml.opened(a.module).overrides}
	at := choice.Join(offer, fmt.Sprintf("%s: rank %d has connected to us", a.module.Attr().Name, pe.rank))
	c := choice.Rails[at]
	r := pe.railOver(c)
	r.way.Foreign = true
	r.adopt(a.endpoint)
	// Those that were chosen come first, in the choice's order; behind them is what
	// stood by.
	all := slices.Insert(slices.Clone(pe.rails), at, r)
	for i, c := range choice.Rails {
		all[i].weight = c.Weight
	}
	pe.attach(pe.host, choice, all)
	return r
}

// Accept implements [btl.Host].
func (h *host) Accept(m btl.Module, rank int, b []byte, path int, ep btl.Endpoint) (btl.Receiver, error) {
	p := h.pml
	if rank < 0 || rank >= p.job.Size() {
		return nil, fmt.Errorf("%w: %d is not in 0 to %d", ErrRank, rank, p.job.Size()-1)
	}
	pe := p.peerOf(rank)
	if pe.failure != nil {
		return nil, fmt.Errorf("rank %d was declared failed: %w", rank, pe.failure)
	}
	his, err := wire.DecodeHello(b)
	if err != nil {
		return nil, err
	}
	a := &accepted{m, path, ep}
	if pe.ways.Stage != rails.Known {
		if err := p.attachRails(pe, his, a); err != nil {
			return nil, err
		}
		return pe.railFor(m, path), nil
	}
	if a.isUrgent() {
		return pe.acceptUrgent(a)
	}
	if r := pe.railFor(m, path); r != nil && r.broken() {
		_ = r.endpoint.Close()
		r.adopt(ep)
		return r, nil
	}
	if r := pe.welcomeStandby(a); r != nil {
		return r, nil
	}
	return pe.addForeign(a), nil
}
