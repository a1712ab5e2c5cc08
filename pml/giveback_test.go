package pml

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/credit"
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
				piece, err = r.Begin(request(0, 300).bytes(), firstPiece)
				require.NoError(t, err)
				piece.Fill(bytes.Repeat([]byte{1}, 50))
			} else {
				require.NoError(t, r.Deliver(request(0, 300).bytes(), nil))
			}
			answer := lastOf(t, ep, frameClear)
			data := header{kind: frameData, flags: flagCounted, frame: 1, handle: answer.remote, offset: 100}
			l, err := r.Begin(data.bytes(), 100)
			require.NoError(t, err)
			l.Fill(bytes.Repeat([]byte{1}, 50))
			before := pe.grant.Left()
			leaveCall(op)
			clear(buf) // the caller's again
			withdrawn := lastOf(t, ep, frameClear)
			require.Equal(t, uint8(flagWithdrawn), withdrawn.flags&flagWithdrawn)
			require.Equal(t, answer.handle, withdrawn.handle)
			if firstPiece > 0 {
				require.Greater(t, pe.grant.Left(), before, "nothing of it is kept")
				piece.Fill(bytes.Repeat([]byte{2}, 50))
				require.NoError(t, r.End(piece))
			}
			l.Fill(bytes.Repeat([]byte{2}, 50))
			require.NoError(t, r.End(l))
			data.frame, data.offset, data.flags = 2, 200, flagCounted|flagAckNow
			require.NoError(t, r.Deliver(data.bytes(), bytes.Repeat([]byte{3}, 100)))
			// They may come again, since they are not acknowledged.
			require.NoError(t, r.Deliver(data.bytes(), bytes.Repeat([]byte{3}, 100)))
			if firstPiece > 0 {
				require.NoError(t, r.Deliver(request(0, 300).bytes(), make([]byte, firstPiece)))
			}
			pe.acknowledge()
			arrived := uint32(0)
			if firstPiece == 0 {
				arrived = 1 // the request
			}
			require.Equal(t, arrived, lastOf(t, ep, frameAck).ack, "what comes after the withdrawal is not acknowledged")

			again := post(t, c, buf)
			answer = lastOf(t, ep, frameClear)
			require.EqualValues(t, 1, answer.round)
			require.EqualValues(t, 300, answer.accept)
			require.NotEqual(t, op.handle(), answer.remote)

			ack := header{kind: frameAck, ack: pe.sent.next}
			require.NoError(t, r.Deliver(ack.bytes(), nil))
			pe.acknowledge()
			require.EqualValues(t, 3, lastOf(t, ep, frameAck).ack, "the sender knows")
			require.Empty(t, pe.withdrawing)
			require.Equal(t, make([]byte, 300), buf)

			data = header{kind: frameData, flags: flagCounted, frame: 3, handle: answer.remote}
			require.NoError(t, r.Deliver(data.bytes(), bytes.Repeat([]byte{4}, 300)))
			require.True(t, again.done)
			require.NoError(t, again.err)
			assert.Equal(t, bytes.Repeat([]byte{4}, 300), buf)
			assert.Zero(t, pe.taking)
		})
	}
}

// A message that comes by itself, and is given back while it arrives, is kept, at its
// place before what came after it, and charged.
func TestReceiveIsLeftWhileAMessageArrives(t *testing.T) {
	for name, room := range map[string]int{"room for all": 100, "truncated": 30, "into several pieces": -1} {
		for _, posted := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				pe, _, c := receiving(t)
				r := pe.rails[0]
				eager := header{kind: frameEager, flags: flagCounted}
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
				l, err := r.Begin(eager.bytes(), 100)
				require.NoError(t, err)
				used := pe.grant.Left()
				l.Fill(bytes.Repeat([]byte{1}, 60))
				if !posted {
					op = take()
				}
				require.False(t, op.done)
				leaveCall(op)
				clear(buf)
				l.Fill(bytes.Repeat([]byte{2}, 40))
				require.NoError(t, r.End(l))
				require.Equal(t, make([]byte, 100), buf)
				require.Equal(t, used, pe.grant.Left(), "it is still charged")
				second := header{kind: frameEager, flags: flagCounted, frame: 1, seq: 1, laneSeq: 1}
				require.NoError(t, r.Deliver(second.bytes(), []byte{9}))
				again := post(t, c, buf)
				require.True(t, again.done)
				require.Equal(t, append(bytes.Repeat([]byte{1}, 60), bytes.Repeat([]byte{2}, 40)...), buf)
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
	require.NoError(t, r.Deliver(request(0, 100).bytes(), nil))
	m := c.takeMessage(c.find(1, 0))
	buf := make([]byte, 100)
	op, err := m.irecv(buf, nil)
	require.NoError(t, err)
	m.in = pe.pml.leave(op)
	require.Equal(t, uint8(flagWithdrawn), lastOf(t, ep, frameClear).flags&flagWithdrawn)
	require.Nil(t, c.find(1, 0), "nobody else gets it")
	op, err = m.irecv(buf, nil)
	require.NoError(t, err)
	data := header{kind: frameData, flags: flagCounted, frame: 1, handle: lastOf(t, ep, frameClear).remote}
	require.NoError(t, r.Deliver(data.bytes(), bytes.Repeat([]byte{5}, 100)))
	require.True(t, op.done)
	assert.Equal(t, bytes.Repeat([]byte{5}, 100), buf)
}

// Answers of several rounds may come in any order: what the sender ends up with is what
// the last one says, from the message's beginning, and it does not complete before.
func TestWithdrawalsInAnyOrder(t *testing.T) {
	answers := []header{
		{kind: frameClear, remote: 10, accept: 1000},
		{kind: frameClear, flags: flagWithdrawn},
		{kind: frameClear, round: 1, remote: 11, accept: 500},
		{kind: frameClear, round: 1, flags: flagWithdrawn},
		{kind: frameClear, round: 2, remote: 12, accept: 800},
	}
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	r.attr = btl.Attr{EagerLimit: 300, MaxFrame: 400}
	pe.credit.Open(credit.Most)
	permute(answers, len(answers), func(order []header) {
		ep.sent = nil
		op, err := c.isend(make([]byte, 1000), nil, 1, 0, Synchronous)
		require.NoError(t, err)
		for _, h := range order {
			h.handle = op.handle()
			pe.clear(&h)
			require.False(t, op.done)
		}
		next, bytes := uint64(0), uint64(0)
		for _, h := range ep.sent {
			if h.kind == frameData && h.handle == 12 {
				require.Equal(t, next, h.offset)
				next += 400
				bytes = h.offset
			}
		}
		require.Equal(t, uint64(400), bytes, "two pieces")
		require.NoError(t, pe.acknowledged(&header{ack: pe.sent.next}))
		require.True(t, op.done)
		require.NoError(t, op.err)
		pe.pml.freeOperation(op)
		require.Nil(t, pe.streams.head)
	})
}

// permute calls f with all orders of the first n.
func permute(all []header, n int, f func([]header)) {
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
	require.NoError(t, r.Deliver(request(0, 300).bytes(), nil))
	ep.result = btl.Taken
	leaveCall(op)
	require.NotNil(t, r.newest)
	bye := header{kind: frameGoodbye, ack: pe.sent.next}
	require.NoError(t, r.Deliver(bye.bytes(), nil))
	require.False(t, op.active)
	for f := r.newest; f != nil; f = r.newest {
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
	require.NoError(t, r.Deliver(request(0, 300).bytes(), nil))
	data := header{kind: frameData, flags: flagCounted, frame: 1, handle: lastOf(t, ep, frameClear).remote}
	l, err := r.Begin(data.bytes(), 100)
	require.NoError(t, err)
	leaveCall(op)
	again := post(t, c, make([]byte, 300))
	require.Same(t, op, again)
	l.Fill(make([]byte, 100))
	require.NoError(t, r.End(l))
	require.Zero(t, again.got)
}
