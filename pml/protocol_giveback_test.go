package pml

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/wire"
)

// leaveCall ends a receive as a blocking call does whose context has ended.
func leaveCall(op *operation) {
	if in := op.pml.leave(op); in != nil {
		op.pml.putBack(in)
	}
}

// A receive whose caller has left while its data arrives: what is still to come goes
// nowhere, and is not acknowledged before the sender knows; then the message is cleared
// anew.
func TestReceiveIsLeftWhileItsDataArrives(t *testing.T) {
	for name, firstPiece := range map[string]int{"without a first piece": 0, "its first piece arriving": 100} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			r := pe.rails[0]
			buf := make([]byte, 300)
			op := post(t, c, buf)
			var piece *btl.Landing
			var err error
			if firstPiece > 0 {
				piece, err = r.Begin(encoded(request(0, 300)), firstPiece)
				require.NoError(t, err)
				piece.Fill(bytes.Repeat([]byte{1}, 50))
			} else {
				require.NoError(t, r.Deliver(encoded(request(0, 300)), nil))
			}
			answer := lastOf(t, ep, wire.Clear)
			data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: answer.Remote, Offset: 100}
			l, err := r.Begin(encoded(data), 100)
			require.NoError(t, err)
			l.Fill(bytes.Repeat([]byte{1}, 50))
			before := pe.grant.Left()
			leaveCall(op)
			clear(buf) // the caller's again
			withdrawn := lastOf(t, ep, wire.Clear)
			require.Equal(t, wire.FlagWithdrawn, withdrawn.Flags&wire.FlagWithdrawn)
			require.Equal(t, answer.Handle, withdrawn.Handle)
			if firstPiece > 0 {
				require.Greater(t, pe.grant.Left(), before, "nothing of it is kept")
				piece.Fill(bytes.Repeat([]byte{2}, 50))
				require.NoError(t, r.End(piece))
			}
			l.Fill(bytes.Repeat([]byte{2}, 50))
			require.NoError(t, r.End(l))
			data.Frame, data.Offset, data.Flags = 2, 200, wire.FlagCounted|wire.FlagAckNow
			require.NoError(t, r.Deliver(encoded(data), bytes.Repeat([]byte{3}, 100)))
			// They may come again, since they are not acknowledged.
			require.NoError(t, r.Deliver(encoded(data), bytes.Repeat([]byte{3}, 100)))
			if firstPiece > 0 {
				require.NoError(t, r.Deliver(encoded(request(0, 300)), make([]byte, firstPiece)))
			}
			pe.acknowledge()
			arrived := uint32(0)
			if firstPiece == 0 {
				arrived = 1 // the request
			}
			require.Equal(t, arrived, lastOf(t, ep, wire.Ack).Ack, "what comes after the withdrawal is not acknowledged")

			again := post(t, c, buf)
			answer = lastOf(t, ep, wire.Clear)
			require.EqualValues(t, 1, answer.Round)
			require.EqualValues(t, 300, answer.Accept)
			require.NotEqual(t, op.handle(), answer.Remote)

			ack := wire.Header{Kind: wire.Ack, Ack: pe.sent.Next()}
			require.NoError(t, r.Deliver(encoded(ack), nil))
			pe.acknowledge()
			require.EqualValues(t, 3, lastOf(t, ep, wire.Ack).Ack, "the sender knows")
			require.Empty(t, pe.withdrawing)
			require.Equal(t, make([]byte, 300), buf)

			data = wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 3, Handle: answer.Remote}
			require.NoError(t, r.Deliver(encoded(data), bytes.Repeat([]byte{4}, 300)))
			require.True(t, again.done)
			require.NoError(t, again.err)
			assert.Equal(t, bytes.Repeat([]byte{4}, 300), buf)
			assert.Zero(t, pe.taking)
		})
	}
}

// What came for a receive that was given back may be acknowledged as soon as its sender knows. The word that it does may come with the message before
// that, which another network, or a rail that has broken, has held up: it goes the short way, and both are counted.
func TestWhatCameLateIsCountedWithTheMessageBeforeIt(t *testing.T) {
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	op := post(t, c, make([]byte, 300))
	require.NoError(t, r.Deliver(encoded(request(0, 300)), nil))
	data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 2, Handle: lastOf(t, ep, wire.Clear).Remote}
	leaveCall(op)
	require.NoError(t, r.Deliver(encoded(data), make([]byte, 300)))

	other, err := c.irecv(make([]byte, 8), nil, 1, 9)
	require.NoError(t, err)
	between := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: 1, Seq: 1, LaneSeq: 1, Tag: 9, Ack: pe.sent.Next()}
	require.NoError(t, r.Deliver(encoded(between), make([]byte, 8)))
	require.True(t, other.done)
	require.Empty(t, pe.withdrawing)
	require.EqualValues(t, 3, pe.received.Next())
	require.Empty(t, pe.received.Beyond())
}

// A message that was given back goes on, for another receive, when what was sent of it for the first one is acknowledged. That may come
// last of all, when its sender knows already, and nothing else would have it acknowledged.
func TestWhatComesOfAMessageThatWasGivenBackIsAcknowledged(t *testing.T) {
	for _, whole := range []bool{true, false} {
		pe, ep, c := receiving(t)
		r := pe.rails[0]
		op := post(t, c, make([]byte, 300))
		require.NoError(t, r.Deliver(encoded(request(0, 300)), nil))
		data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: lastOf(t, ep, wire.Clear).Remote}
		leaveCall(op)
		post(t, c, make([]byte, 300))
		require.NoError(t, r.Deliver(encoded(wire.Header{Kind: wire.Ack, Ack: pe.sent.Next()}), nil))
		require.Empty(t, pe.withdrawing, "the sender knows")

		if whole {
			require.NoError(t, r.Deliver(encoded(data), make([]byte, 100)))
		} else {
			l, err := r.Begin(encoded(data), 100)
			require.NoError(t, err)
			pe.pml.Flush()
			l.Fill(make([]byte, 100))
			require.NoError(t, r.End(l))
		}
		pe.pml.Flush()
		require.EqualValues(t, 2, lastOf(t, ep, wire.Ack).Ack)
	}
}

// A message that comes by itself, and is given back while it arrives, is kept, at its
// place before what came after it, and charged.
func TestReceiveIsLeftWhileAMessageArrives(t *testing.T) {
	for name, room := range map[string]int{"room for all": 100, "truncated": 30, "into several pieces": -1} {
		for posted := range 4 {
			posted, inOrder := posted%2 == 0, posted < 2
			t.Run(name, func(t *testing.T) {
				pe, _, c := receiving(t)
				r := pe.rails[0]
				eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
				buf := make([]byte, 100)
				first, more := buf[:max(room, 0)], [][]byte(nil)
				if room < 0 {
					first, more = buf[:10], [][]byte{nil, buf[10:70], buf[70:]}
				}
				take := func() *operation {
					op, err := c.irecv(first, more, 1, AnyTag)
					require.NoError(t, err)
					return op
				}
				var op *operation
				if posted {
					op = take()
				}
				l, err := r.Begin(encoded(eager), 100)
				require.NoError(t, err)
				used := pe.grant.Left()
				// A transport may bring parts of a frame in any order.
				begin, end := 60, 100
				if inOrder {
					l.Fill(bytes.Repeat([]byte{1}, 60))
				} else {
					begin, end = 20, 60
					l.Put(0, bytes.Repeat([]byte{1}, begin))
					l.Put(end, bytes.Repeat([]byte{1}, 100-end))
				}
				if !posted {
					op = take()
				}
				require.False(t, op.done)
				leaveCall(op)
				clear(buf)
				if inOrder {
					l.Fill(bytes.Repeat([]byte{2}, 40))
				} else {
					l.Put(begin, bytes.Repeat([]byte{2}, 40))
				}
				require.NoError(t, r.End(l))
				require.Equal(t, make([]byte, 100), buf)
				require.Equal(t, used, pe.grant.Left(), "it is still charged")
				second := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: 1, Seq: 1, LaneSeq: 1}
				require.NoError(t, r.Deliver(encoded(second), []byte{9}))
				again := post(t, c, buf)
				require.True(t, again.done)
				want := bytes.Repeat([]byte{1}, 100)
				copy(want[begin:end], bytes.Repeat([]byte{2}, 40))
				require.Equal(t, want, buf)
				require.Equal(t, used+credit.Price(100), pe.grant.Left()+credit.Price(1))
				require.Equal(t, 1, post(t, c, buf).status.Count)
			})
		}
	}
}

// A matched probe's message is its holder's again.
func TestMatchedProbeIsLeftWhileItsMessageArrives(t *testing.T) {
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	require.NoError(t, r.Deliver(encoded(request(0, 100)), nil))
	m := c.takeMessage(c.find(1, 0))
	buf := make([]byte, 100)
	op, err := m.irecv(buf, nil)
	require.NoError(t, err)
	m.in = pe.pml.leave(op)
	require.Equal(t, wire.FlagWithdrawn, lastOf(t, ep, wire.Clear).Flags&wire.FlagWithdrawn)
	require.Nil(t, c.find(1, 0), "nobody else gets it")
	op, err = m.irecv(buf, nil)
	require.NoError(t, err)
	data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: lastOf(t, ep, wire.Clear).Remote}
	require.NoError(t, r.Deliver(encoded(data), bytes.Repeat([]byte{5}, 100)))
	require.True(t, op.done)
	assert.Equal(t, bytes.Repeat([]byte{5}, 100), buf)
}

// Answers of several rounds may come in any order: what the sender ends up with is what
// the last one says, from the message's beginning, and it does not complete before.
func TestWithdrawalsInAnyOrder(t *testing.T) {
	answers := []wire.Header{
		{Kind: wire.Clear, Remote: 10, Accept: 1000},
		{Kind: wire.Clear, Flags: wire.FlagWithdrawn},
		{Kind: wire.Clear, Round: 1, Remote: 11, Accept: 500},
		{Kind: wire.Clear, Round: 1, Flags: wire.FlagWithdrawn},
		{Kind: wire.Clear, Round: 2, Remote: 12, Accept: 800},
	}
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	r.attr = btl.Attr{EagerLimit: 300, MaxFrame: 400}
	pe.credit.Open(credit.Most)
	permute(answers, len(answers), func(order []wire.Header) {
		ep.sent = nil
		op, err := c.isend(make([]byte, 1000), nil, 1, 0, Synchronous)
		require.NoError(t, err)
		for _, h := range order {
			h.Handle = op.handle()
			pe.clear(&h)
			require.False(t, op.done)
		}
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: pe.sent.Next()}))
		require.False(t, op.done)
		next, bytes := uint64(0), uint64(0)
		for _, h := range ep.sent {
			if h.Kind == wire.Data && h.Handle == 12 {
				require.Equal(t, next, h.Offset)
				next += 400
				bytes = h.Offset
			}
		}
		require.Equal(t, uint64(400), bytes, "two pieces")
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: pe.sent.Next()}))
		require.True(t, op.done)
		require.NoError(t, op.err)
		pe.pml.freeOperation(op)
		require.Nil(t, pe.streams.head)
	})
}

// What was cut of a message before it was given back is on its way when the message is cleared
// anew. What is cut then waits for that to arrive: a receive that ends soon, again and again,
// would else put more and more before the message, and before what others are sent.
func TestMessageThatWasGivenBackDoesNotPileUp(t *testing.T) {
	inOrder := func(h *wire.Header, next uint32) { h.Ack = next }
	beyondGap := func(h *wire.Header, next uint32) { h.NumRanges, h.Ranges[0] = 1, wire.Range{First: 1, Count: next - 1} }
	for name, test := range map[string]struct {
		transport   btl.Result
		acknowledge func(h *wire.Header, next uint32)
	}{
		"acknowledged in order":     {btl.Done, inOrder},
		"acknowledged beyond a gap": {btl.Done, beyondGap},
		"released last":             {btl.Taken, inOrder},
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			r := pe.rails[0]
			r.attr, ep.result = btl.Attr{EagerLimit: 300, MaxFrame: 400}, test.transport
			pe.credit.Open(credit.Most)
			pe.sendControl(&wire.Header{Kind: wire.Clear}) // is lost, in one of the cases
			op, err := c.isend(make([]byte, 1000), nil, 1, 0, Synchronous)
			require.NoError(t, err)
			receive := func(round uint32) {
				pe.clear(&wire.Header{Kind: wire.Clear, Handle: op.handle(), Round: round, Remote: 10 + uint64(round), Accept: 1000})
			}
			giveBack := func(round uint32) {
				pe.clear(&wire.Header{Kind: wire.Clear, Flags: wire.FlagWithdrawn, Handle: op.handle(), Round: round})
			}
			receive(0)
			before := len(ep.sent)
			for round := range uint32(1000) {
				giveBack(round)
				receive(round + 1)
			}
			require.Len(t, ep.sent, before, "nothing follows what is on its way")
			var h wire.Header
			test.acknowledge(&h, pe.sent.Next())
			require.NoError(t, pe.acknowledged(&h))
			for ep.result = btl.Done; r.line.Newest() != nil; {
				r.Released(&r.line.Newest().Frame)
			}
			require.EqualValues(t, 1010, lastOf(t, ep, wire.Data).Handle)
			require.Len(t, ep.sent, before+3)
			require.False(t, op.done)
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: pe.sent.Next()}))
			require.True(t, op.done)
		})
	}
}

// permute calls f with all orders of the first n.
func permute(all []wire.Header, n int, f func([]wire.Header)) {
	if n == 0 {
		f(all)
		return
	}
	for i := range n {
		all[i], all[n-1] = all[n-1], all[i]
		permute(all, n-1, f)
		all[i], all[n-1] = all[n-1], all[i]
	}
}

// The sender of a message that was given back leaves: it has heard of that, and the
// transport has not let the frame go that told it.
func TestPeerLeavesWhileTheTransportHoldsAWithdrawal(t *testing.T) {
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	op := post(t, c, make([]byte, 300))
	require.NoError(t, r.Deliver(encoded(request(0, 300)), nil))
	ep.result = btl.Taken
	leaveCall(op)
	require.NotNil(t, r.line.Newest())
	bye := wire.Header{Kind: wire.Goodbye, Ack: pe.sent.Next()}
	require.NoError(t, r.Deliver(encoded(bye), nil))
	require.False(t, op.active)
	for f := r.line.Newest(); f != nil; f = r.line.Newest() {
		r.Released(&f.Frame)
	}
	require.Empty(t, pe.withdrawing)
}

// What arrives within a process for a receive that was left is not counted as the next
// one's, which may have its place.
func TestDataOfAReceiveThatWasLeftIsNotTheNextOnes(t *testing.T) {
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	pe.pml.rank = pe.rank // it is a message to itself
	op := post(t, c, make([]byte, 300))
	require.NoError(t, r.Deliver(encoded(request(0, 300)), nil))
	data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Handle: lastOf(t, ep, wire.Clear).Remote}
	l, err := r.Begin(encoded(data), 100)
	require.NoError(t, err)
	leaveCall(op)
	again := post(t, c, make([]byte, 300))
	require.Same(t, op, again)
	l.Fill(make([]byte, 100))
	require.NoError(t, r.End(l))
	require.Zero(t, again.got)
}
