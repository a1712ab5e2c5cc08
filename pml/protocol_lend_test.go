package pml

import (
	"bytes"
	"context"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/whowaits"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// lending is a send whose frame the transport has passed on, from a buffer that the program has back when the send
// is complete.
func lending(t *testing.T, pe *peer, c *Context) (op *operation, buf []byte, ep *retaining) {
	t.Helper()
	ep = new(retaining)
	pe.rails[0].setEndpoint(ep)
	buf = bytes.Repeat([]byte{7}, 32<<10)
	op, err := c.isend(buf, nil, 1, 5, Standard)
	require.NoError(t, err)
	require.NotNil(t, op)
	require.True(t, op.lends())
	require.False(t, op.busy, "there is nothing to move on")
	require.Equal(t, &buf[0], &ep.frame.Payload[0])
	return op, buf, ep
}

// What arrives before anybody asks for the end of its send is not copied.
func TestSendThatIsNotAskedForIsNotCopied(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, buf, ep := lending(t, pe, c)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
	assert.True(t, op.done)
	assert.Nil(t, op.lent)
	assert.Nil(t, ep.frame.Payload, "the frame is free")
	assert.Zero(t, pe.pml.copied)
	assert.Equal(t, byte(7), buf[0])
}

// Whoever asks for the end of a send has it at once, and the frame a copy.
func TestSendThatIsAskedForIsCopied(t *testing.T) {
	others := func(op *operation) []Request { return []Request{{}, requestOf(op)} }
	for name, ask := range map[string]func(t *testing.T, op *operation) (done bool, err error){
		"wait": func(t *testing.T, op *operation) (bool, error) {
			_, err := requestOf(op).Wait(t.Context())
			return true, err
		},
		"blocking call": func(t *testing.T, op *operation) (bool, error) {
			op.pml.engine.Lock()
			defer op.pml.engine.Unlock()
			_, err := op.pml.awaitAlone(t.Context(), op)
			return true, err
		},
		"wait for all": func(t *testing.T, op *operation) (bool, error) {
			_, err := WaitAll(t.Context(), others(op), nil)
			return true, err
		},
		"wait for any": func(t *testing.T, op *operation) (bool, error) {
			i, _, err := WaitAny(t.Context(), others(op))
			return i == 1, err
		},
		"wait for some": func(t *testing.T, op *operation) (bool, error) {
			out, err := WaitSome(t.Context(), others(op), nil)
			return len(out) == 1, err
		},
		"test": func(_ *testing.T, op *operation) (bool, error) {
			_, done, err := requestOf(op).Test()
			return done, err
		},
		"end now": func(_ *testing.T, op *operation) (bool, error) {
			_, complete, err := requestOf(op).EndNow()
			return complete, err
		},
		"test all": func(_ *testing.T, op *operation) (bool, error) {
			_, done, err := TestAll(others(op), nil)
			return done, err
		},
		"test any": func(_ *testing.T, op *operation) (bool, error) {
			i, _, done, err := TestAny(others(op))
			return done && i == 1, err
		},
		"test some": func(_ *testing.T, op *operation) (bool, error) {
			out, err := TestSome(others(op), nil)
			return len(out) == 1, err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 20*time.Microsecond)
			op, buf, ep := lending(t, pe, c)
			gen := op.gen
			pe.pml.engine.Unlock() // who asks takes it
			done, err := ask(t, op)
			pe.pml.engine.Lock()
			require.NoError(t, err)
			require.True(t, done)
			require.NotEqual(t, gen, op.gen, "the request has ended")
			clear(buf)
			assert.Equal(t, bytes.Repeat([]byte{7}, len(buf)), ep.frame.Payload, "the frame may go again, as it was")
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
			assert.Zero(t, pe.pml.copied)
		})
	}
}

// Who waits for several waits for the others first: what they wait for may bring the acknowledgement.
func TestSendsAreCopiedWhenTheOthersAreOver(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, _, _ := lending(t, pe, c)
	e := pe.pml.engine
	e.Unlock() // who asks takes it
	defer e.Lock()
	r, err := c.Irecv(make([]byte, 8), nil, 1, 6)
	require.NoError(t, err)
	reqs := []Request{requestOf(op), r}
	_, done, err := TestAll(reqs, nil)
	require.NoError(t, err)
	assert.False(t, done)
	assert.True(t, op.lends())

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = WaitAll(ctx, reqs, nil)
	require.ErrorIs(t, err, context.Canceled)
	assert.True(t, op.lends())

	e.Lock()
	r.op.complete(nil)
	e.Unlock()
	failed, err := WaitAll(t.Context(), reqs, nil)
	require.NoError(t, err)
	assert.Empty(t, failed)
	assert.Nil(t, op.lent)
}

// several begins sends of 32 KB that lend their buffers.
func several(t *testing.T, pe *peer, c *Context, n int) (reqs []Request) {
	t.Helper()
	for range n {
		op, _, _ := lending(t, pe, c)
		reqs = append(reqs, requestOf(op))
	}
	return reqs
}

// Of many sends nothing is copied for who waits for all: the peer is asked what has arrived, once.
func TestPeerIsAskedForManySends(t *testing.T) {
	for n, asks := range map[int]bool{lentAtMost / (32 << 10): false, lentAtMost/(32<<10) + 1: true} {
		pe, ep, c := promptPeer(t, 20*time.Microsecond)
		reqs := several(t, pe, c, n)
		pe.rails[0].setEndpoint(ep)
		s := (*allOver)(pe.pml.newWaitSet(reqs))
		require.Equal(t, !asks, s.Done(), "%d sends", n)
		if asks {
			require.Equal(t, n*(32<<10), pe.lent)
			require.NotZero(t, lastOf(t, ep, wire.Ack).Flags&wire.FlagAckNow)
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: 2}))
			require.False(t, s.Done())
			require.Len(t, ep.sent, 1)
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: uint32(n)}))
			require.True(t, s.Done())
		}
		require.Zero(t, pe.lent)
	}
}

// If it does not answer, all of them are copied together.
func TestManySendsAreCopiedIfThePeerIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := promptPeer(t, 20*time.Microsecond)
		reqs := several(t, pe, c, 8)
		begun := time.Now()
		e := pe.pml.engine
		e.Unlock() // who waits takes it
		defer e.Lock()
		failed, err := WaitAll(t.Context(), reqs, nil)
		require.NoError(t, err)
		assert.Empty(t, failed)
		assert.Less(t, time.Since(begun), 2*time.Millisecond)
		assert.Zero(t, pe.lent)
	})
}

// A frame that is to go again is not copied meanwhile: the transport reads it.
func TestSendIsNotCopiedWhileItGoesAgain(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, _, _ := lending(t, pe, c)
	f := op.lent
	pe.rails[0].line.Take(&f.Frame)
	require.False(t, op.lends())
	pe.pml.engine.Unlock() // who asks takes it
	_, done, err := requestOf(op).Test()
	pe.pml.engine.Lock()
	require.NoError(t, err)
	require.False(t, done)
	pe.rails[0].line.Release(&f.Frame)
	f.settle()
	assert.True(t, op.done, "it was asked for: there is a copy as soon as there may be one")
}

// Whoever sleeps until a send is complete is not left to wait for an acknowledgement that may come late.
func TestSendIsCopiedForWhoSleeps(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, _, _ := lending(t, pe, c)
	f := op.lent
	pe.rails[0].line.Take(&f.Frame)
	s := (*allOver)(pe.pml.newWaitSet([]Request{requestOf(op)}))
	require.False(t, s.Done())
	(*waitSet)(s).watch(requestOf(op))
	pe.rails[0].line.Release(&f.Frame)
	f.settle()
	assert.True(t, op.done)
	assert.True(t, s.one)
}

// A connection that breaks may be away for long. What was lent goes again from a copy, so nobody waits for another connection
// to have a buffer back.
func TestSendDoesNotWaitForAConnectionThatIsBroken(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, buf, ep := lending(t, pe, c)
	_, other := secondRail(pe)
	other.result = btl.Busy
	pe.rails[0].Down(syscall.ECONNRESET)
	require.NoError(t, pe.failure)
	require.Equal(t, 1, pe.sent.Replays())
	require.Zero(t, pe.lent)
	pe.pml.engine.Unlock() // who asks takes it
	_, done, err := requestOf(op).Test()
	pe.pml.engine.Lock()
	require.NoError(t, err)
	require.True(t, done)
	clear(buf)
	require.Equal(t, bytes.Repeat([]byte{7}, len(buf)), ep.frame.Payload, "the frame goes again, as it was")
}

// Who leaves a send does not ask for its end any more: it ends by itself, and at once, if all that it needs is a copy.
func TestSendThatIsLeftIsCopied(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, buf, ep := lending(t, pe, c)
	pe.pml.engine.Unlock() // who leaves takes it
	Leave(requestOf(op))
	pe.pml.engine.Lock()
	require.Zero(t, pe.sends)
	require.Zero(t, pe.lent)
	clear(buf)
	require.Equal(t, bytes.Repeat([]byte{7}, len(buf)), ep.frame.Payload, "the frame may go again, as it was")
}

// Peers that compute are waited for together, not one after the other.
func TestPeersAreAskedForManySendsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := promptPeer(t, 20*time.Microsecond)
		c.group, pe.pml.tune.copyPool = ConsecutiveGroup(0, 9), 1<<23
		var reqs []Request
		for rank := 1; rank < 9; rank++ {
			other := pe.pml.peerOf(rank)
			if rank > 1 {
				other.ways.Stage, other.ways.Met = rails.Known, true
				other.laneSeq, other.spread.Lanes = make([]uint32, 1), 1
				other.also(&rail{pml: pe.pml, peer: other, endpoint: &scripted{result: btl.Done}, attr: pe.rails[0].attr}, rails.Up)
				other.credit.Open(1 << 16)
				other.sent.Most = pe.sent.Most
				defer func() { other.ways.Stage = rails.Failed }()
			}
			for range lentAtMost/(32<<10) + 1 {
				op, err := c.isend(make([]byte, 32<<10), nil, rank, 5, Standard)
				require.NoError(t, err)
				reqs = append(reqs, requestOf(op))
			}
			require.Greater(t, other.lent, lentAtMost)
		}
		begun := time.Now()
		e := pe.pml.engine
		e.Unlock() // who waits takes it
		defer e.Lock()
		_, err := WaitAll(t.Context(), reqs, nil)
		require.NoError(t, err)
		assert.Less(t, time.Since(begun), 500*time.Microsecond)
	})
}

// An acknowledgement that may come by a prompt rail is no reason to wait for it for long.
func TestManySendsAreCopiedIfTheirPeerWasPromptBefore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		pe, _, c := promptPeer(t, 20*time.Microsecond)
		reqs := several(t, pe, c, 8)
		pe.heard = &rail{attr: btl.Attr{Latency: 1}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		e := pe.pml.engine
		e.Unlock() // who waits takes it
		defer e.Lock()
		_, err := WaitAll(ctx, reqs, nil)
		require.NoError(t, err)
	})
}

// A send that is complete for whoever asks waits for nothing. There may be more of these than a report has room for.
func TestSendThatLendsIsNoneThatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // or what is lent might be copied meanwhile
		pe, _, c := promptPeer(t, 20*time.Microsecond)
		reqs := several(t, pe, c, 6)
		waits := func() []whowaits.Wait {
			pe.pml.engine.Unlock() // who asks takes it
			defer pe.pml.engine.Lock()
			return pe.pml.Waits().Waits
		}
		require.Empty(t, waits())
		s := (*allOver)(pe.pml.newWaitSet(reqs))
		require.False(t, s.Done())
		w := waits()
		require.Len(t, w, 1)
		require.True(t, w[0].Blocked)
		pe.pml.freeWaitSet((*waitSet)(s))
	})
}

// A blocking send that is complete at once sets no clock.
func TestSendThatIsCompleteIsNotOverdue(t *testing.T) {
	pe, _, c := promptPeer(t, 20*time.Microsecond)
	op, _, _ := lending(t, pe, c)
	_, err := pe.pml.awaitAlone(t.Context(), op)
	require.NoError(t, err)
	require.Empty(t, pe.pml.overdue.sends)
}
