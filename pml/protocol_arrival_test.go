package pml

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// receiving returns a peer from which frames arrive by hand, and a context that
// it is in.
func receiving(t testing.TB) (*peer, *scripted, *Context) {
	pe, ep := connected(t)
	p := pe.pml
	p.tune = tunables{lanes: 1, creditMax: 1 << 20}
	p.host, p.contexts = &host{pml: p}, make(map[uint64]*Context)
	p.scratch, p.pool.Limit = make([]byte, 64), 1<<20
	pe.laneSeq, pe.spread.Lanes = make([]uint32, 1), 1
	pe.grant.Open(1 << 16)
	c := p.contextOf(0)
	c.group = ConsecutiveGroup(0, 2)
	return pe, ep, c
}

func encoded(h wire.Header) []byte {
	b := make([]byte, btl.MaxHeader)
	return b[:h.Encode(b)]
}

// request is the header of a request to send, the n'th frame and message.
func request(n uint32, size uint64) wire.Header {
	return wire.Header{Kind: wire.Request, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n, Size: size, Handle: 7}
}

func post(t *testing.T, c *Context, buf []byte) *operation {
	t.Helper()
	op, err := c.irecv(buf, nil, 1, AnyTag)
	require.NoError(t, err)
	return op
}

// lastOf returns the last header of a type that was sent.
func lastOf(t *testing.T, ep *scripted, kind wire.Kind) wire.Header {
	t.Helper()
	for i := len(ep.sent) - 1; i >= 0; i-- {
		if ep.sent[i].Kind == kind {
			return ep.sent[i]
		}
	}
	t.Fatalf("no frame of type %d was sent", kind)
	return wire.Header{}
}

// A send that is cut short within its first piece waits for nothing but the
// acknowledgement of that piece, which therefore does not wait for other traffic.
func TestFirstPieceThatIsAllThereWillBeIsAcknowledged(t *testing.T) {
	for name, arrange := range map[string]func(*testing.T, *Context){
		"truncated": func(t *testing.T, c *Context) { post(t, c, make([]byte, 10)) },
		"freed":     func(_ *testing.T, c *Context) { c.free() },
		"closing":   func(_ *testing.T, c *Context) { c.pml.closing = true; c.discard() },
	} {
		t.Run(name, func(t *testing.T) {
			pe, ep, c := receiving(t)
			arrange(t, c)
			l, err := pe.rails[0].Begin(encoded(request(0, 1000)), 100)
			require.NoError(t, err)
			answer := lastOf(t, ep, wire.Clear)
			assert.LessOrEqual(t, answer.Accept, uint64(10))
			assert.Zero(t, answer.Ack, "its data is not here yet")
			assert.Equal(t, name == "closing", answer.Flags&wire.FlagRefused != 0)
			l.Fill(make([]byte, 100))
			require.NoError(t, pe.rails[0].End(l))
			pe.pml.Flush()
			assert.EqualValues(t, 1, ep.sent[len(ep.sent)-1].Ack)
		})
	}
}

// A frame that broke off with its connection and comes again is the same
// message, matched or not.
func TestFrameThatBrokeOffComesAgain(t *testing.T) {
	for _, posted := range []bool{true, false} {
		pe, _, c := receiving(t)
		r := pe.rails[0]
		buf := make([]byte, 100)
		var op *operation
		if posted {
			op = post(t, c, buf)
		}
		eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
		l, err := r.Begin(encoded(eager), 100)
		require.NoError(t, err)
		l.Fill(bytes.Repeat([]byte{1}, 60))
		r.Drop(l)
		l, err = r.Begin(encoded(eager), 100)
		require.NoError(t, err)
		l.Fill(bytes.Repeat([]byte{2}, 100))
		require.NoError(t, r.End(l))
		if !posted {
			op = post(t, c, buf)
		}
		require.True(t, op.done)
		require.NoError(t, op.err)
		assert.Equal(t, bytes.Repeat([]byte{2}, 100), buf)
		// And once more, whole: it is dropped.
		require.NoError(t, r.Deliver(encoded(eager), bytes.Repeat([]byte{3}, 100)))
		assert.Equal(t, bytes.Repeat([]byte{2}, 100), buf)
	}
}

// partOf is the header of a part of a frame.
func partOf(h wire.Header, at, whole uint32) wire.Header {
	h.Flags |= wire.FlagPart
	h.Part = wire.Part{At: at, Whole: whole}
	return h
}

// A piece for a receive that has ended comes in parts: with the first it is done.
func TestPartsThatNobodyWants(t *testing.T) {
	pe, ep, _ := receiving(t)
	data := partOf(wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Handle: 5000}, 100, 200)
	for range 2 {
		require.NoError(t, pe.rails[0].Deliver(encoded(data), make([]byte, 100)))
		pe.acknowledge()
		assert.EqualValues(t, 1, lastOf(t, ep, wire.Ack).Ack)
	}
	assert.Empty(t, pe.received.AllUnfinished())
}

// What breaks the protocol is an error that says what, from whom.
func TestFramesThatBreakTheProtocol(t *testing.T) {
	eager := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted}
	for _, c := range []struct {
		name   string
		before func(t *testing.T, pe *peer, c *Context)
		header wire.Header
		size   int
		says   string
	}{
		{"more than was granted", func(_ *testing.T, pe *peer, _ *Context) { pe.grant.Take(pe.grant.Left() - 7) },
			eager, 100, "from rank 1: message of 9 credit units, but only 7 are left"},
		{"a message's number twice", func(t *testing.T, pe *peer, _ *Context) {
			require.NoError(t, pe.rails[0].Deliver(encoded(eager), nil))
		}, wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: 1}, 0, "number 0 has arrived already"},
		{"acknowledges what was not sent", nil, wire.Header{Kind: wire.Ack, Ack: 5}, 0, "acknowledgement up to frame 5"},
		{"acknowledges a range that was not sent", nil,
			wire.Header{Kind: wire.Ack, Ranges: [wire.MaxRanges]wire.Range{{First: 3, Count: 4}}, NumRanges: 1}, 0, "acknowledgement of frames 3 to 7"},
		{"a piece beyond the message's end", func(t *testing.T, pe *peer, c *Context) {
			post(t, c, make([]byte, 200))
			require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 200)), nil))
		}, wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Offset: 150}, 100, "data frame of 100 bytes at offset 150 of a message of which 200"},
		{"a piece beyond what was taken", func(t *testing.T, pe *peer, c *Context) {
			post(t, c, make([]byte, 100))
			require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 200)), nil))
		}, wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 1, Offset: 100}, 1, "of which 100 are taken"},
		{"parts of a frame of two lengths", func(t *testing.T, pe *peer, _ *Context) {
			first := partOf(eager, 0, 200)
			require.NoError(t, pe.rails[0].Deliver(encoded(first), make([]byte, 100)))
		}, partOf(eager, 100, 300), 100, "frame 0, of type 1 with 300 bytes, began as one of type 1 with 200"},
		{"parts that charge too much", func(_ *testing.T, pe *peer, _ *Context) { pe.grant.Take(pe.grant.Left() - 9) },
			partOf(eager, 0, 1000), 100, "message of 23 credit units, but only 9 are left"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pe, _, context := receiving(t)
			if c.before != nil {
				c.before(t, pe, context)
			}
			err := pe.rails[0].Deliver(encoded(c.header), make([]byte, c.size))
			assert.ErrorContains(t, err, c.says)
			assert.ErrorContains(t, err, "from rank 1: ")
		})
	}
}

// A handle that names nothing, or somebody else's operation, is no error: the
// operation may just have ended. It reaches nothing.
func TestFramesForOperationsThatHaveEnded(t *testing.T) {
	pe, ep, c := receiving(t)
	r := pe.rails[0]
	buf := make([]byte, 100)
	op := post(t, c, buf) // it has not matched: nobody was told its handle
	for i, handle := range []uint64{op.handle(), op.handle() + 1<<32, 5000, 1<<64 - 1} {
		data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: uint32(2 * i), Handle: handle}
		require.NoError(t, r.Deliver(encoded(data), bytes.Repeat([]byte{1}, 100)))
		answer := wire.Header{Kind: wire.Clear, Flags: wire.FlagCounted, Frame: uint32(2*i + 1), Handle: handle, Accept: 1 << 60}
		require.NoError(t, r.Deliver(encoded(answer), nil))
	}
	assert.Equal(t, make([]byte, 100), buf)
	assert.False(t, op.done)
	pe.acknowledge()
	assert.EqualValues(t, 8, lastOf(t, ep, wire.Ack).Ack, "they count as arrived")
}

// A communicator that is made when a member has failed already knows of it.
func TestContextOfAFailedMember(t *testing.T) {
	pe, _, _ := receiving(t)
	p := pe.pml
	pe.fail(rails.Failed, errors.New("the launcher says so"))
	p.engine.Unlock()
	defer p.engine.Lock()
	with, err := p.NewContext(8, ConsecutiveGroup(0, 2), Manner{})
	require.NoError(t, err)
	_, err = with.Irecv(nil, nil, AnySource, 1)
	assert.EqualError(t, err, "the launcher says so")
	with.AcknowledgeFailures()
	r, err := with.Irecv(nil, nil, AnySource, 1)
	require.NoError(t, err)
	cancelled(t, r)
	without, err := p.NewContext(9, ConsecutiveGroup(0, 1), Manner{})
	require.NoError(t, err)
	r, err = without.Irecv(nil, nil, AnySource, 1)
	require.NoError(t, err)
	cancelled(t, r)
}

// cancelled takes back a receive and ends its request.
func cancelled(t *testing.T, r Request) {
	t.Helper()
	require.True(t, r.Cancel())
	st, done, err := r.Test()
	require.NoError(t, err)
	assert.True(t, done && st.Cancelled)
}

// FuzzDeliver hands frames of any bytes to a process with receives posted, a send
// under way and messages unexpected: it must not panic, and what is refused must
// not have been written to a buffer of the program's beyond its end.
func FuzzDeliver(f *testing.F) {
	var all []byte
	for i, h := range []wire.Header{
		{Kind: wire.Eager, Flags: wire.FlagCounted}, request(1, 300),
		{Kind: wire.Data, Flags: wire.FlagCounted, Frame: 3, Handle: 1}, {Kind: wire.Clear, Flags: wire.FlagCounted, Frame: 4, Accept: 50},
		{Kind: wire.Ack, Ack: 1}, {Kind: wire.Goodbye}, {Kind: wire.GoodbyeAck},
	} {
		size := 0
		if k := h.Kind; k == wire.Eager || k == wire.Request || k == wire.Data {
			size = 100
		}
		b := append([]byte{byte(len(encoded(h))), byte(size), byte(i)}, encoded(h)...)
		f.Add(b)
		all = append(all, b...)
	}
	f.Add(all)
	f.Fuzz(func(t *testing.T, script []byte) {
		pe, ep, c := receiving(t)
		r := pe.rails[0]
		r.attr = btl.Attr{EagerLimit: 64, MaxFrame: 1024}
		buf := make([]byte, 150)
		post(t, c, buf[:100:100])
		post(t, c, nil)
		ep.result = btl.Taken // sends stay under way
		if _, err := c.isend(make([]byte, 500), nil, 1, 0, Synchronous); err != nil {
			t.Fatal(err)
		}
		ep.result = btl.Done
		for len(script) >= 3 {
			n, size, twoSteps := int(script[0]), int(script[1]), script[2]&1 == 1
			script = script[3:]
			n = min(n, len(script), btl.MaxHeader)
			h := script[:n]
			script = script[n:]
			payload := bytes.Repeat([]byte{0xFF}, size)
			if !twoSteps || size == 0 {
				if r.Deliver(h, payload) != nil {
					break // the transport ends the connection
				}
				continue
			}
			l, err := r.Begin(h, size)
			if err != nil {
				break
			}
			l.Fill(payload)
			if r.End(l) != nil {
				break
			}
		}
		pe.pml.Flush()
		if !bytes.Equal(buf[100:], make([]byte, 50)) {
			t.Fatal("written beyond the end of a receive's buffer")
		}
	})
}

// A receive gets a message that is here and asks for an answer, although its sender has failed. No
// answer is sent then.
func TestReceiveFromAFailedPeerAnswersNothing(t *testing.T) {
	pe, _, c := receiving(t)
	require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 10)), make([]byte, 10)))
	pe.fail(rails.Failed, errors.New("gone"))
	op := post(t, c, make([]byte, 10))
	require.True(t, op.done)
	require.NoError(t, op.err)
	assert.Zero(t, pe.backlog.Len(), "nobody will ever take it")
	assert.True(t, pe.sent.Empty())
}

// Messages that came in parts, and are whole, do not count as unfinished until they are received.
func TestWholeMessagesHaveNoGaps(t *testing.T) {
	pe, _, _ := receiving(t)
	for n := range uint32(10) {
		for at := range uint32(2) {
			h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted | wire.FlagPart, Frame: n, Seq: n, LaneSeq: n, Part: wire.Part{At: at * 5, Whole: 10}}
			require.NoError(t, pe.rails[0].Deliver(encoded(h), make([]byte, 5)))
		}
	}
	assert.Zero(t, pe.received.Gaps())
	assert.Empty(t, pe.received.AllUnfinished())
}
