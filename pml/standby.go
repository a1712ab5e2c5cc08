package pml

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/param"
	"github.com/strandmp/strand/selection"
)

// Modules that reach a peer and are not chosen stand by (pml_failover), and so do the
// spare paths of those that are: they become rails when none of those that there are
// leads to the peer any more. From then on they are rails like the others, except that
// a rail carries nothing new while one of a higher tier is connected.

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
		_, err = f.list.Components(r)
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
func (p *PML) newRail(pe *peer, c selection.Rail, h *hello) *rail {
	r := &rail{pml: p, peer: pe, module: c.Module, attr: c.Attr, path: c.Path, weight: c.Weight}
	address, _ := h.address(p.componentOf(c.Module))
	r.recovery.peer = btl.Peer{Rank: pe.rank, Host: h.host, Address: bytes.Clone(address)}
	return r
}

// keepStandby notes the rails that stand by.
func (pe *peer) keepStandby(choice selection.Choice, h *hello) {
	pe.standby = nil
	for _, c := range choice.Standby {
		pe.standby = append(pe.standby, pe.pml.newRail(pe, c, h))
	}
}

// callIn makes rails of what stands by: of the highest tier there is, and of spare
// paths of the next one. It reports whether there is one now that can be connected.
func (pe *peer) callIn() bool {
	left := pe.hasLeft()
	for len(pe.standby) > 0 {
		tier, called := pe.standby[0].tier(), false
		for len(pe.standby) > 0 && pe.standby[0].tier() == tier {
			r := pe.standby[0]
			spare := r.path.Spare != btl.NotSpare
			if spare && called {
				break
			}
			pe.standby = pe.standby[1:]
			if spare && left {
				continue
			}
			ep, err := r.module.Connect(r.recovery.peer, r.path, r)
			if err != nil {
				r.recovery.cause = err
				pe.pml.host.Logf(btl.LogInfo, "rank %d → rank %d: %s stands by in vain: %v", pe.pml.rank, pe.rank, r.attr.Name, err)
				continue
			}
			called = true
			r.setEndpoint(ep)
			pe.join(r)
		}
		if called {
			return true
		}
	}
	return false
}

// welcomeStandby makes a rail of what stands by because the peer has connected it. It
// returns nil if that is no path which does.
func (pe *peer) welcomeStandby(a *accepted) *rail {
	i := slices.IndexFunc(pe.standby, func(r *rail) bool { return r.module == a.module && r.path.Index == a.path })
	if i < 0 {
		return nil
	}
	r := pe.standby[i]
	pe.standby = slices.Delete(pe.standby, i, i+1)
	r.busy = true
	r.setEndpoint(a.endpoint)
	pe.join(r)
	return r
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
		if r.recovery.cause != nil {
			return r.recovery.cause
		}
	}
	if pe.met {
		return errPeersWish
	}
	return fmt.Errorf("no connection within %v", nextRail)
}

// tierOfRails is the highest that is connected; of those on trial only where there are no
// others.
func (pe *peer) tierOfRails() int {
	tier, found := 0, false
	for _, trials := range []bool{false, true} {
		for _, r := range pe.rails {
			if t := r.tier(); r.up && r.trial.on == trials && (!found || t > tier) {
				tier, found = t, true
			}
		}
		if found {
			break
		}
	}
	return tier
}

// serves reports whether the rail carries messages: it is connected, none of a higher
// tier is, and it is neither in doubt nor on trial.
func (r *rail) serves() bool {
	return r.up && r.tier() >= r.peer.tier && !r.vital.doubted && !r.trial.on
}

// rests reports whether a rail of a higher tier carries everything.
func (r *rail) rests() bool { return r.tier() < r.peer.tier && r.peer.up() }
