package pml

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// kinds counts the frames of a type that an endpoint took.
func kinds(ep *scripted, kind wire.Kind) (n int) {
	for _, h := range ep.sent {
		if h.Kind == kind {
			n++
		}
	}
	return n
}

// waitsForRoom has a frame wait since neither rail takes it. The second one does from then on, and
// has not said so.
func (pe *peer) waitsForRoom(eps [2]*scripted, h *wire.Header) {
	eps[0].result, eps[1].result = btl.Busy, btl.Busy
	pe.sendControl(h)
	eps[1].result, pe.rails[1].busy = btl.Done, false
}

// A rail that is busy when its trial begins gets the probe as soon as it takes it: without
// one the trial would only take its time and fail.
func TestProbeWaitsForABusyRail(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		r := pe.rails[0]
		r.way.Loses(rails.LeastProbe)
		r.comesUp()
		eps[0].result = btl.Busy
		r.probe()
		require.Zero(t, kinds(eps[0], wire.Probe))
		eps[0].result = btl.Done
		r.Writable()
		assert.Equal(t, 1, kinds(eps[0], wire.Probe))
		r.Writable()
		assert.Equal(t, 1, kinds(eps[0], wire.Probe), "one at a time")
	})
}

// A rail may fall silent while it is full of frames that need no answer. What waits for the
// rail then shows that it is silent.
func TestRailThatTakesNothingIsSilent(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		pe.waitsForRoom(eps, &wire.Header{Kind: wire.Clear})
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.pass(2 * pe.pml.tune.railTimeout)
		assert.False(t, pe.rails[0].up(), "the rail was given up")
		assert.Equal(t, 1, kinds(eps[1], wire.Clear), "and what has waited went over the other one")
	})
}

// A rail may be full of frames that the peer has and that its transport does not release. It
// gets no more of what waits. As long as something waits, these frames count as under way.
func TestRailThatGivesNothingBackIsLookedAt(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		eps[0].result = btl.Taken
		pe.sendControl(&wire.Header{Kind: wire.Clear})
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.NotNil(t, pe.rails[0].line.Newest())
		assert.Empty(t, pe.dueSince(), "nothing waits for the rail")
		pe.streams.push(pe.pml.newOperation())
		assert.Contains(t, pe.dueSince(), &pe.rails[0].line)
		pe.streams = opQueue{}
	})
}

// A rail is given up, too, whose transport does not release the memory of an operation. The
// operation ends then.
func TestRailThatKeepsTheMemoryOfAnOperationIsLookedAt(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		for _, r := range pe.rails {
			r.attr.EagerLimit, r.attr.MaxFrame = 1000, 1000
		}
		require.NoError(t, pe.credit.Update(1<<16))
		eps[0].result = btl.Taken
		op, err := pe.pml.contextOf(0).isend(make([]byte, 500), nil, 1, 0, Standard)
		require.NoError(t, err)
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.False(t, op.done, "its memory is the transport's")
		pe.rails[0].module.(*connector).ep = &scripted{result: btl.Busy}
		pe.pass(2 * pe.pml.tune.railTimeout)
		assert.False(t, pe.rails[0].up(), "the rail was given up")
		assert.True(t, op.done)
	})
}

// A rail that is busy while nothing waits for it is left alone.
func TestBusyRailForWhichNothingWaitsIsLeftAlone(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		eps[0].result = btl.Busy
		pe.rails[0].ask()
		require.True(t, pe.rails[0].busy)
		pe.pass(4 * pe.pml.tune.railTimeout)
		assert.True(t, pe.rails[0].up())
	})
}

// What waits for a rail that has fallen silent goes over another one as soon as the silent one
// is in doubt, and not only when it is given up.
func TestBacklogLeavesARailInDoubt(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		pe.waitsForRoom(eps, &wire.Header{Kind: wire.Clear, Handle: 1})
		for pe.rails[0].way.State != rails.Doubted {
			pe.pass(pe.pml.tune.railTimeout / 20)
			pe.rails[1].hear()
			require.True(t, pe.rails[0].up())
		}
		require.Equal(t, 1, kinds(eps[1], wire.Clear))
	})
}

// When the other rail is in doubt too, the first one is in doubt no more, and what waits goes
// over it again.
func TestBacklogReturnsToARailThatIsInDoubtNoMore(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		eps[0].result, eps[1].result = btl.Busy, btl.Busy
		pe.rails[0].is(rails.Doubted)
		pe.sendControl(&wire.Header{Kind: wire.Clear, Handle: 1})
		require.Equal(t, 1, pe.backlog.Len())
		eps[0].result = btl.Done
		pe.pass(pe.pml.tune.railTimeout * 3 / 4)
		require.Equal(t, 1, kinds(eps[0], wire.Clear))
	})
}

// Frames whose rail breaks, and pieces that no rail had room for, pass a rail that is busy and
// go over the next one that is free.
func TestWhatGoesAgainPassesABusyRail(t *testing.T) {
	for name, fill := range map[string]func(pe *peer){
		"frames of a rail that breaks": func(pe *peer) { pe.underWay(pe.rails[0]) },
		"pieces": func(pe *peer) {
			f := pe.pml.newFrame(pe)
			f.build(&wire.Header{Kind: wire.Clear})
			pe.bulk.Push(&f.Frame)
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, _ := receiving(t)
			pe.rails[0].attr.MaxFrame = 1024
			_, second := secondRail(pe)
			_, third := secondRail(pe)
			fill(pe)
			second.result = btl.Busy
			pe.rails[0].Down(errors.New("breaks"))
			require.Len(t, third.sent, 1)
		})
	}
}
