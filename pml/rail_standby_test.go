package pml

import (
	"errors"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
)

// connector is a module that connects, or does not.
type connector struct {
	btl.Module
	ep  *scripted
	err error
}

func (c *connector) Connect(btl.Peer, btl.Path, btl.Receiver) (btl.Endpoint, error) {
	return c.ep, c.err
}

// standingBy gives the peer a rail that stands by.
func standingBy(pe *peer, exclusivity int, m *connector) *rail {
	r := &rail{pml: pe.pml, peer: pe, module: m, attr: btl.Attr{Name: "other", Exclusivity: exclusivity}}
	r.way = rails.Rail{Owner: r, Tier: 2*exclusivity + 1}
	pe.ways.Standby = append(pe.ways.Standby, &r.way)
	return r
}

// What stands by is called in when nothing else is connected in time, one exclusivity after
// the other; one that can not connect holds up nobody.
func TestCallIn(t *testing.T) {
	disconnected(t, func(t *testing.T, pe *peer, _ []*scripted) {
		pe.pml.host = &host{pml: pe.pml}
		pe.lead(pe.rails[0])
		pe.rails[0].way.Tier = 201
		none := standingBy(pe, 50, &connector{err: errors.New("no memory")})
		second := standingBy(pe, 40, &connector{ep: &scripted{result: btl.Busy}})
		third := standingBy(pe, 40, &connector{ep: &scripted{result: btl.Busy}})
		last := standingBy(pe, 10, &connector{ep: &scripted{result: btl.Busy}})
		pe.connect()
		pe.pass(rails.NextRail + rails.NextRail/2)
		assert.Equal(t, []*rail{pe.rails[0], none, second, third}, pe.rails)
		assert.Equal(t, rails.Connecting, second.way.State)
		assert.Equal(t, rails.Idle, third.way.State)
		pe.pass(2 * rails.NextRail)
		assert.Equal(t, []*rail{pe.rails[0], none, second, third, last}, pe.rails)
		assert.Equal(t, rails.Connecting, last.way.State)
	})
}

// What stands by and can not be made for the moment, for want of descriptors or memory, is tried again.
func TestStandbyThatCanNotBeMadeIsTriedAgain(t *testing.T) {
	met(t, 30*time.Second, func(pe *peer, _ *scripted, m *connector) {
		pe.pml.host = &host{pml: pe.pml}
		pe.lead(pe.rails[0])
		m.err = errors.New("the network is down")
		standby := &connector{ep: &scripted{result: btl.Busy}, err: errors.New("no descriptor is left")}
		standingBy(pe, 0, standby)
		pe.rails[0].Down(syscall.ECONNRESET)
		pe.pass(2 * rails.NextRail)
		require.Zero(t, standby.ep.offers)
		pe.pml.engine.Unlock()
		told := pe.pml.Rails()
		pe.pml.engine.Lock()
		require.Len(t, told, 2)
		standby.err = nil
		pe.pass(2 * time.Second)
		assert.Positive(t, standby.ep.offers)
	})
}
