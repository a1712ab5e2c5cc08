package pml

import (
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
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
	pe.standby = append(pe.standby, r)
	return r
}

// What stands by is called in one exclusivity after the other, and one that can not
// connect does not count.
func TestCallIn(t *testing.T) {
	pe, _, _ := receiving(t)
	pe.rails[0].attr.Exclusivity = 100
	standingBy(pe, 50, &connector{err: errors.New("no memory")})
	second := standingBy(pe, 40, &connector{ep: &scripted{result: btl.Busy}})
	third := standingBy(pe, 40, &connector{ep: &scripted{result: btl.Busy}})
	last := standingBy(pe, 10, &connector{ep: &scripted{result: btl.Busy}})
	require.True(t, pe.callIn())
	assert.Equal(t, []*rail{pe.rails[0], second, third}, pe.rails)
	assert.Equal(t, []*rail{last}, pe.standby)
	require.True(t, pe.callIn())
	assert.Len(t, pe.rails, 4)
	assert.False(t, pe.callIn())
}

// A rail rests while one of higher exclusivity is connected.
func TestRailsOfLowerExclusivityRest(t *testing.T) {
	pe, _, _ := receiving(t)
	high := pe.rails[0]
	high.attr.Exclusivity = 100
	low := standingBy(pe, 50, &connector{ep: &scripted{result: btl.Done}})
	require.True(t, pe.callIn())
	low.up = true
	pe.choosePoller()
	assert.True(t, high.serves())
	assert.False(t, low.serves())
	assert.True(t, low.rests())
	assert.Same(t, high, pe.control())
	assert.Same(t, high, pe.freeRail())
	high.up = false
	pe.choosePoller()
	assert.True(t, low.serves())
	assert.False(t, high.rests(), "it is to be brought back")
	assert.Same(t, low, pe.freeRail())
}

// The only rail to a peer is borne with when it is silent, but not if something
// stands by.
func TestSilentRailGivesWayToStandby(t *testing.T) {
	pe, _, _ := receiving(t)
	only := pe.rails[0]
	only.attr.Exclusivity = 100
	assert.False(t, pe.alternatives())
	assert.False(t, pe.hasOther(only))
	standby := standingBy(pe, 50, &connector{ep: &scripted{result: btl.Busy}})
	assert.True(t, pe.alternatives())
	assert.True(t, pe.hasOther(only))
	require.True(t, pe.callIn())
	assert.True(t, pe.hasOther(only), "it can be connected")
	only.up = false
	assert.False(t, pe.hasOther(standby), "there is nothing below it")
}

// spare gives the peer a spare rail of the transport that serves it.
func spare(pe *peer, kind btl.Spare) (*rail, *scripted) {
	ep := &scripted{result: btl.Busy}
	r := standingBy(pe, pe.rails[0].attr.Exclusivity, &connector{ep: ep})
	r.path.Spare = kind
	return r, ep
}

// Spare paths are called in one by one, before other transports, and rest while one of
// the others is connected.
func TestSparePathsAreCalledInOneByOne(t *testing.T) {
	pe, _, _ := receiving(t)
	pe.rails[0].attr.Exclusivity = 100
	first, _ := spare(pe, btl.Detour)
	second, _ := spare(pe, btl.Parallel)
	other := standingBy(pe, 50, &connector{ep: &scripted{result: btl.Busy}})
	for i, want := range []*rail{first, second, other} {
		require.True(t, pe.callIn())
		require.Len(t, pe.rails, i+2)
		assert.Same(t, want, pe.rails[i+1])
	}
	first.up, other.up = true, true
	pe.choosePoller()
	assert.True(t, first.rests())
	assert.True(t, other.rests())
	pe.rails[0].up = false
	pe.choosePoller()
	assert.True(t, first.serves())
	assert.True(t, other.rests())
	assert.Same(t, first, pe.control())
}

// A peer whose process has ended refuses at all its addresses: the spare ones would
// only take time.
func TestSparePathsToAProcessThatHasEnded(t *testing.T) {
	pe, _, _ := receiving(t)
	pe.rails[0].attr.Exclusivity = 100
	spare(pe, btl.Detour)
	pe.rails[0].recovery.cause = syscall.ECONNREFUSED
	assert.False(t, pe.hasLeft(), "it was never there: another host may refuse")
	pe.met = true
	assert.True(t, pe.hasLeft())
	assert.False(t, pe.callIn())
	assert.Len(t, pe.rails, 1)
}

// The only rail to a peer is borne with when it is silent if the only alternative goes
// over the same interfaces.
func TestSilentRailGivesWayToDetour(t *testing.T) {
	pe, _, _ := receiving(t)
	only := pe.rails[0]
	only.attr.Exclusivity = 100
	spare(pe, btl.Parallel)
	assert.False(t, pe.alternatives())
	assert.False(t, pe.hasOther(only))
	require.True(t, pe.callIn())
	assert.False(t, pe.hasOther(only))
	spare(pe, btl.Detour)
	assert.True(t, pe.alternatives())
	assert.True(t, pe.hasOther(only))
}
