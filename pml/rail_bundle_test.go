package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// parallel returns a peer with as many parallel rails.
func parallel(t *testing.T, n int) (*peer, []*scripted) {
	pe, first := connected(t)
	eps := []*scripted{first}
	for len(eps) < n {
		ep := &scripted{result: btl.Done}
		eps = append(eps, ep)
		pe.also(&rail{endpoint: ep}, rails.Up)
	}
	for i, r := range pe.rails {
		r.path.Index, r.path.Bundle = i, 1
	}
	pe.choosePoller()
	return pe, eps
}

// inLane sends a frame of a lane.
func (pe *peer) inLane(lane uint16) {
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.Eager, Lane: lane})
	pe.emit(f)
}

// lanesOf are the lanes of the frames that an endpoint has taken.
func lanesOf(ep *scripted) []uint16 {
	lanes := []uint16{}
	for _, h := range ep.sent {
		lanes = append(lanes, h.Lane)
	}
	return lanes
}

func TestLanesAreSpreadOverParallelRails(t *testing.T) {
	pe, eps := parallel(t, 3)
	for lane := range uint16(6) {
		pe.inLane(lane)
	}
	for i, ep := range eps {
		require.Equal(t, []uint16{uint16(i), uint16(i + 3)}, lanesOf(ep))
	}
	pe.rails[1].is(rails.Down)
	pe.inLane(1)
	require.Equal(t, []uint16{2, 5, 1}, lanesOf(eps[2]), "the others take the lanes of one that breaks")
}

// A rail that takes nothing stands in the way of its own lanes alone, and they keep
// their order.
func TestABusyRailHoldsUpItsOwnLanesAlone(t *testing.T) {
	pe, eps := parallel(t, 2)
	eps[0].result = btl.Busy
	for _, lane := range []uint16{0, 1, 2, 3, 0, 5} {
		pe.inLane(lane)
	}
	assert.Empty(t, eps[0].sent)
	assert.Equal(t, []uint16{1, 3, 5}, lanesOf(eps[1]))
	pe.pump()
	assert.Equal(t, 1, eps[0].offers, "who has refused is asked again when it says so")
	eps[0].result = btl.Done
	pe.rails[0].Writable()
	assert.Equal(t, []uint16{0, 2, 0}, lanesOf(eps[0]))
	assert.Nil(t, pe.backlog.Head())
}

// More than the first rail's frames would let a queue grow without bound.
func TestParallelRailsBoundTheirBacklog(t *testing.T) {
	pe, eps := parallel(t, 2)
	eps[0].result = btl.Busy
	for range maxBacklog {
		pe.inLane(0)
	}
	assert.True(t, pe.headOfLine())
	pe.pump()
	assert.Equal(t, maxBacklog, pe.backlog.Len())
}

// Rails between other interfaces take pieces of long messages while the parallel ones are
// all busy with them.
func TestBusyParallelRailsLeaveThePiecesToOthers(t *testing.T) {
	pe, _ := parallel(t, 2)
	other := &scripted{result: btl.Done}
	pe.also(&rail{endpoint: other}, rails.Up)
	pe.choosePoller()
	pe.rails[0].busy, pe.rails[1].busy = true, true
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.Eager}) // any kind will do
	pe.bulk.Push(&f.Frame)
	pe.pump()
	assert.Len(t, other.sent, 1)
}
