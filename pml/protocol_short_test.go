package pml

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/wire"
)

// returning is an endpoint that keeps the header of what it took last.
type returning struct {
	btl.Endpoint
	header [btl.MaxHeader]byte
	size   int
}

func (e *returning) Send(f *btl.Frame, _ int) btl.Result {
	e.size = copy(e.header[:], f.Header)
	return btl.Done
}

// BenchmarkShort is what the message layer takes for a short message, on both sides, when
// nothing stands in its way: all but the transport, the lock and the wait.
func BenchmarkShort(b *testing.B) {
	pe, _, c := receiving(b)
	r, ep := pe.rails[0], new(returning)
	r.setEndpoint(ep)
	r.attr = btl.Attr{EagerLimit: 1 << 10, MaxFrame: 1 << 10}
	p := pe.pml
	p.tune.copyLimit, p.tune.copyPool = 1<<10, 1<<20
	pe.credit.Open(1 << 10)
	c.channelTo(1)
	buf, into := make([]byte, 8), make([]byte, 8)
	b.ReportAllocs()
	for range b.N {
		op, err := c.irecv(into, nil, 1, 5)
		if err != nil || !c.sendShort(buf, 1, 5) {
			b.Fatal("not sent", err)
		}
		if err := r.Deliver(ep.header[:ep.size], buf); err != nil || !op.done {
			b.Fatal("not received", err)
		}
		p.freeOperation(op)
	}
	require.LessOrEqual(b, pe.sent.Outstanding(), 1, "a frame acknowledges the one before")
}

// retaining is an endpoint that keeps the frame that it took last.
type retaining struct {
	btl.Endpoint
	frame *btl.Frame
}

func (e *retaining) Send(f *btl.Frame, _ int) btl.Result {
	e.frame = f
	return btl.Done
}

// A message of up to copyFirst bytes goes the short way, from a copy of its own that is given back when it has
// arrived. A longer one does not, nor one that is too long for a network that might carry it.
func TestShortWayOut(t *testing.T) {
	for _, size := range []int{0, 1, frameRoom, frameRoom + 1, copyFirst, copyFirst + 1} {
		pe, _, c := promptPeer(t, time.Microsecond)
		r, ep := pe.rails[0], new(retaining)
		r.setEndpoint(ep)
		c.channelTo(1)
		if size > 0 {
			other := &rail{pml: pe.pml, peer: pe, attr: btl.Attr{EagerLimit: size - 1, MaxFrame: size - 1}}
			pe.networks = []network{{r}, {other}}
			require.False(t, c.sendShort(make([]byte, size), 1, 5))
			require.Nil(t, ep.frame)
			pe.networks = nil
		}
		buf := bytes.Repeat([]byte{7}, size)
		require.Equal(t, size <= copyFirst, c.sendShort(buf, 1, 5))
		if size > copyFirst {
			continue
		}
		clear(buf)
		require.Equal(t, bytes.Repeat([]byte{7}, size), append([]byte{}, ep.frame.Payload...), "a copy")
		require.NotZero(t, pe.pml.copied)
		require.NoError(t, pe.acknowledged(&wire.Header{Ack: 1}))
		require.Zero(t, pe.pml.copied)
	}
}

// A transport may say that it sends at once what is longer than a frame of its own. No frame is longer for that.
func TestShortWayIsNoLongerThanAFrame(t *testing.T) {
	for _, size := range []int{1024, 1025, copyFirst} {
		pe, _, c := promptPeer(t, time.Microsecond)
		r, ep := pe.rails[0], new(retaining)
		r.attr.EagerLimit, r.attr.MaxFrame = 16<<10, 1024
		r.setEndpoint(ep)
		c.channelTo(1)
		require.Equal(t, size <= 1024, c.sendShort(make([]byte, size), 1, 5), "%d bytes", size)
		require.Equal(t, size <= 1024, ep.frame != nil)
	}
}

// A frame for whose acknowledgement a send waits is acknowledged at once, on its short way in too, where the
// program may not poll for long: it has what it waited for.
func TestShortWayInConfirms(t *testing.T) {
	for _, flags := range []wire.Flags{wire.FlagCounted, wire.FlagCounted | wire.FlagAckNow} {
		pe, ep, c := promptPeer(t, 100)
		r, h := pe.rails[0], wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: 5}
		post(t, c, make([]byte, 8))
		require.NoError(t, r.Deliver(encoded(h), make([]byte, 8))) // the first one makes the peer known there
		ep.sent = nil
		op := post(t, c, make([]byte, 8))
		h.Flags, h.Frame, h.Seq, h.LaneSeq = flags, 1, 1, 1
		require.True(t, r.deliverExpected(encoded(h), make([]byte, 8)))
		require.True(t, op.done)
		if flags&wire.FlagAckNow == 0 {
			require.Empty(t, ep.sent)
			continue
		}
		require.Len(t, ep.sent, 1)
		require.Equal(t, wire.Ack, ep.sent[0].Kind)
		require.Equal(t, uint32(2), ep.sent[0].Ack)
	}
}

// Whoever sends to many in turn finds each channel, and does not look through the table for
// those whose ranks end differently.
func TestChannelsAreNear(t *testing.T) {
	pe, _, c := receiving(t)
	c.group = ConsecutiveGroup(0, 64)
	for world := 1; world < 64; world++ {
		require.Nil(t, c.known(world))
		ch := c.channelTo(world)
		require.Same(t, ch, c.known(world))
		require.Same(t, ch, c.channelTo(world))
	}
	for world := 63; world > 0; world-- {
		require.Equal(t, world, c.known(world).peer.rank)
	}
	table := c.channels
	c.channels = nil
	for world := 1; world < len(c.near); world++ {
		require.Equal(t, world, c.known(world).peer.rank)
	}
	require.Nil(t, c.known(17))
	c.channels = table
	require.Same(t, pe, c.known(1).peer)
}

// named is an endpoint that can be polled.
type named struct {
	btl.Poller
	_ int
}

// A receive, and a probe, for a named source polls that source's endpoint, whoever was heard last.
func TestNamedSourceIsPolled(t *testing.T) {
	pe, _, c := receiving(t)
	p := pe.pml
	heard, theirs := &named{}, &named{}
	p.recent = heard
	source := func(rank int) btl.Poller {
		op, err := c.irecv(nil, nil, rank, AnyTag)
		require.NoError(t, err)
		return op.source()
	}
	require.Same(t, heard, source(pe.rank), "not connected yet")
	pe.poller = theirs
	require.Same(t, theirs, source(pe.rank))
	require.Same(t, heard, source(AnySource))
	require.Same(t, heard, p.expectedFrom(40), "never heard of")
}
