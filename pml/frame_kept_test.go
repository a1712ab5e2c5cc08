package pml

import (
	"bytes"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// storing is an endpoint that keeps the payloads that it has passed on.
type storing struct {
	scripted
	kept   [][]byte // nil: the peer has read it
	queued []*btl.Frame
}

func (k *storing) Send(f *btl.Frame, lane int) btl.Result {
	r := k.scripted.Send(f, lane)
	switch r {
	case btl.Done:
		k.kept = append(k.kept, bytes.Clone(f.Payload))
	case btl.Taken:
		k.queued = append(k.queued, f)
	}
	return r
}

func (k *storing) Kept(*btl.Frame) uint64 { return uint64(len(k.kept) - 1) }

func (k *storing) Again(place uint64, b []byte) bool { return copy(b, k.kept[place]) > 0 }

// keptPair is a peer with a rail whose transport keeps what it has passed on.
func keptPair(t *testing.T) (*peer, *storing, *Context) {
	pe, _, c := receiving(t)
	k := &storing{scripted: scripted{result: btl.Done}}
	r := pe.rails[0]
	r.setEndpoint(k)
	r.attr = btl.Attr{EagerLimit: 8 << 10, MaxFrame: 8 << 10}
	pe.pml.tune.copyLimit, pe.pml.tune.copyPool = 8<<10, 1<<20
	pe.credit.Open(1 << 16)
	pe.sent.Most = 1 << 10
	c.channelTo(1)
	return pe, k, c
}

// another is a rail that takes over, and remembers payloads.
func another(pe *peer) *storing {
	r, _ := secondRail(pe)
	k := &storing{scripted: scripted{result: btl.Done}}
	r.setEndpoint(k)
	return k
}

func message(n byte, size int) []byte { return bytes.Repeat([]byte{n}, size) }

// What the transport keeps is not copied, and goes over another rail all the same when the connection ends.
func TestWhatIsKeptIsReplayed(t *testing.T) {
	pe, k, c := keptPair(t)
	buf := make([]byte, 1000)
	for i := range byte(3) {
		copy(buf, message(i+1, 1000))
		require.True(t, c.sendShort(buf, 1, 5))
	}
	clear(buf)
	require.Zero(t, pe.pml.copied)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))

	other := another(pe)
	pe.rails[0].Save()
	k.kept = nil
	pe.rails[0].Down(syscall.ECONNRESET)
	require.Equal(t, [][]byte{message(2, 1000), message(3, 1000)}, other.kept)
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 3}))
	assert.Zero(t, pe.pml.copied)
	assert.True(t, pe.sent.Empty())
}

// As long a message as a transport keeps is complete when it was passed on. Where nothing is kept, or the user has it asked for
// first, it goes the long way.
func TestWhatIsKeptIsCompleteAtOnce(t *testing.T) {
	for _, size := range []int{copyFirst, copyFirst + 1, btl.MostKept, btl.MostKept + 1} {
		pe, k, c := keptPair(t)
		r := pe.rails[0]
		r.attr = btl.Attr{EagerLimit: copyFirst, MaxFrame: 1 << 20, Reliable: true, Ordered: true}
		pe.pml.tune.eagerMax = 64 << 10
		require.Equal(t, size <= btl.MostKept, c.sendShort(message(1, size), 1, 5))
		require.Equal(t, size <= btl.MostKept, pe.comesWhole(size))
		require.Zero(t, pe.pml.copied)
		require.Equal(t, size <= btl.MostKept, len(k.kept) == 1)

		r.attr.EagerFixed = true
		require.Equal(t, size <= copyFirst, c.sendShort(message(1, size), 1, 5))
		r.attr.EagerFixed, r.keeper = false, nil
		require.Equal(t, size <= copyFirst, c.sendShort(message(1, size), 1, 5))
		require.Equal(t, size <= copyFirst, pe.comesWhole(size))
	}
}

// What the peer has read, and not acknowledged, does not go again. The peer is asked.
func TestWhatThePeerHasReadIsNotReplayed(t *testing.T) {
	pe, k, c := keptPair(t)
	for i := range byte(3) {
		require.True(t, c.sendShort(message(i+1, 1000), 1, 5))
	}
	k.kept[0] = nil
	other := another(pe)
	other.result = btl.Busy
	pe.rails[0].Save()
	pe.rails[0].Down(syscall.ECONNRESET)
	require.Empty(t, other.sent)
	other.result = btl.Done
	pe.rails[1].Writable()
	require.Len(t, other.sent, 3)
	assert.Equal(t, wire.Ack, other.sent[0].Kind)
	assert.NotZero(t, other.sent[0].Flags&wire.FlagAckNow)
	assert.Equal(t, [][]byte{message(2, 1000), message(3, 1000)}, other.kept[1:])
	require.NoError(t, pe.acknowledged(&wire.Header{Ack: 3}))
	assert.Zero(t, pe.pml.copied)
	assert.True(t, pe.sent.Empty())
	assert.False(t, pe.inquires)
}

// A frame that waits has a copy: the program has its buffer back.
func TestWhatWaitsIsCopied(t *testing.T) {
	for _, result := range []btl.Result{btl.Busy, btl.Taken} {
		pe, k, c := keptPair(t)
		k.result = result
		buf := message(7, 1000)
		require.True(t, c.sendShort(buf, 1, 5))
		clear(buf)
		assert.NotZero(t, pe.pml.copied)
		if result == btl.Taken {
			require.Equal(t, message(7, 1000), k.queued[0].Payload)
			pe.rails[0].Released(k.queued[0])
			require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
			assert.Zero(t, pe.pml.copied)
			continue
		}
		k.result = btl.Done
		pe.rails[0].Writable()
		require.Equal(t, [][]byte{message(7, 1000)}, k.kept)
	}
}
