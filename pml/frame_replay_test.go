package pml

import (
	"bytes"
	"errors"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// secondRail gives the peer another rail.
func secondRail(pe *peer) (*rail, *scripted) {
	ep := &scripted{result: btl.Done}
	r := &rail{endpoint: ep, attr: pe.rails[0].attr}
	pe.also(r, rails.Up)
	return r, ep
}

// A frame stalls on one rail, comes again over another, and completes the receive;
// the program has its buffer back. What the first rail still brings goes to scratch.
func TestLateBytesDoNotTouchABufferThatWasGivenBack(t *testing.T) {
	for _, matched := range []bool{true, false} {
		pe, _, c := receiving(t)
		slow := pe.rails[0]
		quick, _ := secondRail(pe)
		buf := make([]byte, 200)
		var op *operation
		if matched {
			op = post(t, c, buf)
		}
		eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
		late, err := slow.Begin(encoded(eager), 200)
		require.NoError(t, err)
		late.Fill(bytes.Repeat([]byte{1}, 50))
		again, err := quick.Begin(encoded(eager), 200)
		require.NoError(t, err)
		late.Fill(bytes.Repeat([]byte{1}, 50))
		again.Fill(bytes.Repeat([]byte{2}, 200))
		require.NoError(t, quick.End(again))
		if !matched {
			op = post(t, c, buf)
		}
		require.True(t, op.done)
		require.NoError(t, op.err)
		assert.Equal(t, bytes.Repeat([]byte{2}, 200), buf)
		clear(buf)
		late.Fill(bytes.Repeat([]byte{1}, 100))
		require.NoError(t, slow.End(late))
		assert.Equal(t, make([]byte, 200), buf)
		assert.Empty(t, pe.begun)
	}
}

// A piece that comes another way has not come by it: the rail may break, and then it is
// the first way, or a third, that brings it.
func TestPieceArrivesOverTheThirdWay(t *testing.T) {
	pe, ep, c := receiving(t)
	first := pe.rails[0]
	second, _ := secondRail(pe)
	buf := make([]byte, 100)
	op := post(t, c, buf)
	require.NoError(t, first.Deliver(encoded(request(0, 100)), nil))
	data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: lastOf(t, ep, wire.Clear).Remote}
	a, err := first.Begin(encoded(data), 100)
	require.NoError(t, err)
	b, err := second.Begin(encoded(data), 100)
	require.NoError(t, err)
	a.Fill(bytes.Repeat([]byte{1}, 50))
	b.Fill(bytes.Repeat([]byte{1}, 70))
	second.Drop(b)
	require.False(t, op.done)
	c2, err := second.Begin(encoded(data), 100)
	require.NoError(t, err)
	a.Fill(bytes.Repeat([]byte{1}, 50))
	require.NoError(t, first.End(a))
	require.True(t, op.done, "the first way has brought it")
	assert.Equal(t, bytes.Repeat([]byte{1}, 100), buf)
	clear(buf)
	c2.Fill(bytes.Repeat([]byte{1}, 100))
	require.NoError(t, second.End(c2))
	assert.Equal(t, make([]byte, 100), buf)
	assert.Empty(t, pe.begun)
	assert.Empty(t, pe.received.AllUnfinished())
}

// A duplicate is acknowledged: the first acknowledgement may have been lost.
func TestDuplicateIsAcknowledgedAgain(t *testing.T) {
	pe, ep, c := receiving(t)
	post(t, c, make([]byte, 10))
	eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
	require.NoError(t, pe.rails[0].Deliver(encoded(eager), make([]byte, 10)))
	pe.pml.Flush()
	ep.sent = nil
	require.NoError(t, pe.rails[0].Deliver(encoded(eager), make([]byte, 10)))
	pe.pml.Flush()
	require.NotEmpty(t, ep.sent)
	assert.EqualValues(t, 1, ep.sent[len(ep.sent)-1].Ack)
}

// What a broken rail had, and the peer has not acknowledged, goes over the other.
func TestBrokenRailIsReplayed(t *testing.T) {
	pe, ep := connected(t)
	op, _ := sendHeld(t, pe, ep)
	_, other := secondRail(pe)
	pe.rails[1].attr = pe.rails[0].attr
	pe.rails[0].Down(syscall.ECONNRESET)
	require.Len(t, other.sent, 1)
	assert.Equal(t, wire.Eager, other.sent[0].Kind)
	assert.EqualValues(t, 1, pe.pml.stats.Replayed)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	assert.True(t, op.done)
	assert.NoError(t, op.err)
}

// A frame that is acknowledged while it waits to be sent again is done.
func TestAcknowledgementOvertakesAReplay(t *testing.T) {
	pe, ep := connected(t)
	op, _ := sendHeld(t, pe, ep)
	_, other := secondRail(pe)
	other.result = btl.Busy
	pe.rails[0].Down(syscall.ECONNRESET)
	require.NotZero(t, pe.sent.Replays())
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	assert.True(t, op.done)
	assert.Zero(t, pe.sent.Replays())
	assert.Empty(t, other.sent)
	assert.Zero(t, pe.pml.stats.Replayed, "it did not go again")
}

// What a rail has lost goes over the one that is left though a program keeps that one busy: each time that it takes a frame
// another one waits for it.
func TestReplaysAreNotKeptWaitingByTheBacklog(t *testing.T) {
	twoPaths(t, func(pe *peer, eps [2]*scripted) {
		const lost = 3
		for range lost {
			pe.underWay(pe.rails[0])
		}
		eps[1].result = btl.Busy
		pe.rails[1].busy = true
		for range lost {
			pe.backlog.Push(&pe.numberedFrame().Frame)
		}
		pe.rails[0].Down(syscall.ECONNRESET)
		require.Equal(t, lost, pe.sent.Replays())
		eps[1].sent = nil
		for range 2 * lost {
			eps[1].result, eps[1].room = btl.Done, len(eps[1].sent)+1
			pe.rails[1].Writable()
			pe.backlog.Push(&pe.numberedFrame().Frame)
		}
		assert.Zero(t, pe.sent.Replays())
		assert.EqualValues(t, lost, pe.pml.stats.Replayed)
		pe.backlog = delivery.Queue{}
	})
}

// numberedFrame is one that is to be sent.
func (pe *peer) numberedFrame() *txFrame {
	f := pe.pml.newFrame(pe)
	f.build(&wire.Header{Kind: wire.Clear})
	return f
}

// What was arriving over a rail that is given up breaks off with it, and arrives
// over the other.
func TestSilentRailIsGivenUp(t *testing.T) {
	pe, _, c := receiving(t)
	silent := pe.rails[0]
	other, _ := secondRail(pe)
	buf := make([]byte, 100)
	op := post(t, c, buf)
	eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
	l, err := silent.Begin(encoded(eager), 100)
	require.NoError(t, err)
	l.Fill(bytes.Repeat([]byte{1}, 50))
	silent.breakOff(errors.New("silent"))
	assert.Empty(t, pe.begun, "its endpoint makes no up-call any more")
	require.NoError(t, other.Deliver(encoded(eager), bytes.Repeat([]byte{2}, 100)))
	require.True(t, op.done)
	require.NoError(t, op.err)
	assert.Equal(t, bytes.Repeat([]byte{2}, 100), buf)
	assert.Empty(t, pe.received.AllUnfinished())
}

// A probe depends on the rank that it names, as a receive does.
func TestProbeDependsOnItsSource(t *testing.T) {
	pe, _, c := receiving(t)
	pe.pml.beats.count = 5
	pe.pml.markWanted()
	require.Zero(t, pe.wanted)
	for _, source := range []int32{1, match.Any} {
		pe.wanted = 0
		pe.pml.probing = []*arrival{{context: c, source: source}}
		pe.pml.markWanted()
		assert.EqualValues(t, 5, pe.wanted)
	}
}
