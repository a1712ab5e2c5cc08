package pml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
	"github.com/strandmp/strand/selection"
)

// A module that reaches a peer and is not chosen stands by (pml_failover). So do the spare
// paths of modules that are chosen. They become rails when no other rail leads to the peer
// any more. From then on they are rails like the others, except that a rail carries
// nothing new while one of a higher tier is connected.

// noFailover is the value of pml_failover by which nothing stands by.
const noFailover = "none"

// A failover says which transports may stand by.
type failover struct {
	none bool
	list selection.List
}

// failoverFrom reads pml_failover. That its names are those of transports is checked
// with the parameter btl.
func failoverFrom(v param.Value) (failover, error) {
	if v.Text == noFailover {
		return failover{none: true}, nil
	}
	list, err := selection.ParseNamed(v.Spec.Name, v.Text, v.Source)
	return failover{list: list}, err
}

func (f failover) allows(component string) bool { return !f.none && f.list.Allows(component) }

// CheckFailover says what is wrong with the value of pml_failover. The registry
// holds the transports that there are.
func CheckFailover(v param.Value, r *btl.Registry) error {
	f, err := failoverFrom(v)
	if err == nil && !f.none && len(f.list.Names) > 0 {
		err = f.list.Check(r)
	}
	return err
}

// CheckFailoverForm is CheckFailover where it is not known what transports a program
// has.
func CheckFailoverForm(v param.Value) error {
	_, err := failoverFrom(v)
	return err
}

// StandsBy reports whether pml_failover, which has passed CheckFailover, lets a
// transport stand by.
func StandsBy(v param.Value, component string) bool {
	f, err := failoverFrom(v)
	return err == nil && f.allows(component)
}

// newRail makes a rail of a path; h is the peer's hello. It has no endpoint yet.
func (p *PML) newRail(pe *peer, c selection.Rail, h *wire.Hello) *rail {
	r := pe.railOver(c)
	address, _ := h.Address(p.componentOf(c.Module))
	r.address = btl.Peer{Rank: pe.rank, Host: h.Host, Address: bytes.Clone(address)}
	return r
}

// railOver makes a rail that is not connected.
func (pe *peer) railOver(c selection.Rail) *rail {
	r := &rail{pml: pe.pml, peer: pe, module: c.Module, attr: c.Attr, path: c.Path, weight: c.Weight}
	r.way = rails.Rail{Owner: r, Tier: tierOf(c), Unbreakable: c.Attr.Unbreakable, Spare: c.Path.Spare}
	return r
}

// tierOf says which rails come first: those of higher exclusivity, and of these the
// ones that are no spares.
func tierOf(c selection.Rail) int {
	if c.Path.Spare != btl.NotSpare {
		return 2 * c.Attr.Exclusivity
	}
	return 2*c.Attr.Exclusivity + 1
}

// keepStandby notes the rails that stand by.
func (pe *peer) keepStandby(choice selection.Choice, h *wire.Hello) {
	pe.ways.Standby = nil
	for _, c := range choice.Standby {
		pe.ways.Standby = append(pe.ways.Standby, &pe.pml.newRail(pe, c, h).way)
	}
}

// activate makes a path that stood by one of the peer's rails.
func (r *rail) activate() {
	err := r.open()
	r.peer.join(r)
	if err != nil {
		r.pml.host.Logf(btl.LogInfo, "rank %d → rank %d: %s stands by in vain: %v", r.pml.rank, r.peer.rank, r.attr.Name, err)
		r.peer.ways.Down(&r.way, err, r.peer.env()) // it is tried again as others are
	}
}

// open gives the rail an endpoint. If its module can make none the rail has one that is broken, until it is connected anew.
func (r *rail) open() error {
	ep, err := r.module.Connect(r.address, r.path, r)
	if err != nil {
		ep, r.busy = unmade{desc: r.attr.Name + " " + r.path.Desc}, true
		err = fmt.Errorf("%s: %w", ep.Desc(), err)
	}
	r.setEndpoint(ep)
	return err
}

// unmade is the endpoint of a rail for which the module could make none.
type unmade struct{ desc string }

func (unmade) Send(*btl.Frame, int) btl.Result { return btl.Broken }
func (unmade) Close() error                    { return nil }
func (u unmade) Desc() string                  { return u.desc }

// welcomeStandby makes a rail of a path that stands by, because the peer has connected it.
// It returns nil if no such path stands by.
func (pe *peer) welcomeStandby(a *accepted) *rail {
	for i, w := range pe.ways.Standby {
		if r := w.Owner.(*rail); r.module == a.module && r.path.Index == a.path {
			pe.ways.Standby = slices.Delete(pe.ways.Standby, i, i+1)
			r.adopt(a.endpoint)
			pe.join(r)
			return r
		}
	}
	return nil
}

// join adds a rail that stood by. It comes last: control frames take the first that
// is connected.
func (pe *peer) join(r *rail) {
	reason := fmt.Sprintf("%s stood by and is called in: %v", r.attr.Name, pe.lastCause())
	pe.pml.host.Logf(btl.LogInfo, "rank %d → rank %d: %s", pe.pml.rank, pe.rank, reason)
	choice := pe.choice
	choice.Reasons = append(slices.Clip(choice.Reasons), reason)
	pe.attach(pe.host, choice, append(pe.rails, r))
}

var errPeersWish = errors.New("the peer has connected it")

// lastCause is why the rails that there are do not serve.
func (pe *peer) lastCause() error {
	for _, r := range pe.rails {
		if r.way.Cause != nil {
			return r.way.Cause
		}
	}
	if pe.ways.Met {
		return errPeersWish
	}
	return fmt.Errorf("no connection within %v", rails.NextRail)
}
