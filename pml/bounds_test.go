package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/pml/match"
)

// besieged is receiving, with bounds that a test can reach.
func besieged(t *testing.T) (*peer, *scripted, *Context) {
	pe, ep, c := receiving(t)
	pe.pml.bounds = bounds{sends: 5, frames: 5, contexts: 5, gaps: 5}
	pe.numbers.Limit, pe.sent.most = 10, 5
	return pe, ep, c
}

// What a peer that has gone mad can have us keep, beside what its credit pays for, has an end.
func TestNobodyHasUsKeepMoreAndMore(t *testing.T) {
	counted := func(kind frameType, n uint32) header {
		return header{kind: kind, flags: flagCounted, frame: n, seq: n, laneSeq: n}
	}
	for _, c := range []struct {
		name  string
		frame func(n uint32) (header, int)
		says  string
	}{
		{"contexts by messages", func(n uint32) (header, int) {
			h := counted(frameEager, n)
			h.context, h.seq = uint64(100+n), 0
			return h, 0
		}, "so are 5 others"},
		{"contexts by requests", func(n uint32) (header, int) {
			h := request(n, 100)
			h.context, h.seq = uint64(100+n), 0
			return h, 0
		}, "so are 5 others"},
		{"contexts by void", func(n uint32) (header, int) {
			h := counted(frameVoid, n)
			h.context, h.seq = uint64(100+n), 0
			return h, 0
		}, "so are 5 others"},
		{"requests", func(n uint32) (header, int) { return request(n, 1), 0 }, "6 requests to send wait"},
		{"requests with a piece", func(n uint32) (header, int) { return request(n, 100), 1 }, "6 requests to send wait"},
		{"numbers far ahead", func(n uint32) (header, int) {
			h := counted(frameVoid, n)
			h.seq += 1000
			return h, 0
		}, "others are ahead of what is missing"},
		{"numbers far ahead in a lane", func(n uint32) (header, int) {
			h := counted(frameVoid, n)
			h.laneSeq += 1000
			return h, 0
		}, "others are ahead of what is missing"},
		{"numbers far ahead in many lanes", func(n uint32) (header, int) {
			h := counted(frameVoid, n)
			h.lane, h.laneSeq = uint16(n), 1
			return h, 0
		}, "others are ahead of what is missing"},
		{"frames that are never whole", func(n uint32) (header, int) { return partOf(counted(frameEager, n), 0, 2), 1 }, "so have 5 others"},
		{"gaps within a frame", func(n uint32) (header, int) { return partOf(counted(frameEager, 0), 2*n, 1000), 1 }, "more than 5 gaps"},
		{"gaps within frames", func(n uint32) (header, int) { return partOf(counted(frameEager, n%3), 2*(n/3), 1000), 1 }, "more than 5 gaps"},
		{"a grant beyond all", func(n uint32) (header, int) { return header{kind: frameAck, credit: n << 22}, 0 }, "a grant of"},
		{"frames without a number", func(uint32) (header, int) { return header{kind: frameVoid}, 0 }, "frame type 5 without a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pe, _, _ := besieged(t)
			var err error
			for n := uint32(0); err == nil && n < 100; n++ {
				h, size := c.frame(n)
				err = pe.rails[0].Deliver(h.bytes(), make([]byte, size))
			}
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "from rank 1: ")
			assert.LessOrEqual(t, len(pe.pml.contexts), 1+5)
			assert.LessOrEqual(t, pe.holds.requests, 5)
			assert.LessOrEqual(t, pe.holds.gaps, 6)
		})
	}
}

// What comes for a message that was given back is kept until its sender knows.
func TestNumbersOfAMessageThatWasGivenBack(t *testing.T) {
	pe, ep, c := besieged(t)
	op := post(t, c, make([]byte, 100))
	require.NoError(t, pe.rails[0].Deliver(request(0, 100).bytes(), nil))
	handle := lastOf(t, ep, frameClear).remote
	ep.result = btl.Busy // it does not hear of it
	leaveCall(op)
	var err error
	for n := uint32(1); err == nil && n < 100; n++ {
		data := header{kind: frameData, flags: flagCounted, frame: n, handle: handle}
		err = pe.rails[0].Deliver(data.bytes(), make([]byte, 1))
	}
	require.ErrorContains(t, err, "of a message that was given back, and so were 5 others")
}

// A message of a process that is no member of the communicator is damage, whichever is
// first, the message or the communicator.
func TestMessageOfNoMember(t *testing.T) {
	stranger := NewGroup([]int32{0, 2})
	for name, message := range map[string]header{
		"eager":   {kind: frameEager, flags: flagCounted, context: 8},
		"request": {kind: frameRequest, flags: flagCounted, context: 8, size: 100},
		"void":    {kind: frameVoid, flags: flagCounted, context: 8},
		"ahead":   {kind: frameEager, flags: flagCounted, context: 8, seq: 1, laneSeq: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, _ := receiving(t)
			c, err := pe.pml.newContext(8, stranger, false)
			require.NoError(t, err)
			op, err := c.irecv(make([]byte, 10), nil, AnySource, AnyTag)
			require.NoError(t, err)
			err = pe.rails[0].Deliver(message.bytes(), nil)
			require.ErrorContains(t, err, "from rank 1: message for communicator 0x8, of which rank 1 is no member")
			assert.False(t, op.done, "nobody has received it")
		})
		for _, state := range []string{"here", "arriving"} {
			size := 0
			if state == "arriving" {
				size = 10
			}
			if size > 0 && message.kind == frameVoid {
				continue
			}
			t.Run(name+", before the communicator, "+state, func(t *testing.T) {
				pe, _, first := receiving(t)
				r := pe.rails[0]
				posted := post(t, first, make([]byte, 10))
				var l *btl.Landing
				var err error
				if size == 0 {
					require.NoError(t, r.Deliver(message.bytes(), nil))
				} else {
					l, err = r.Begin(message.bytes(), size)
					require.NoError(t, err)
				}
				c, err := pe.pml.newContext(8, stranger, false)
				require.NoError(t, err, "it is not the communicator's fault")
				require.ErrorIs(t, pe.failure, ErrPeerFailed)
				require.ErrorContains(t, pe.failure, "of which rank 1 is no member")
				require.ErrorContains(t, posted.err, "of which rank 1 is no member")
				op, err := c.irecv(make([]byte, 10), nil, AnySource, AnyTag)
				require.NoError(t, err, "it has failed, but is no member")
				assert.False(t, op.done)
				assert.Nil(t, c.find(match.Any, AnyTag))
				assert.Zero(t, pe.holds)
				if l != nil {
					assert.Empty(t, pe.begun, "what was arriving broke off with the connection")
					assert.Empty(t, pe.partial)
				}
			})
		}
	}
}

// Members that were ahead are none the worse for it.
func TestMessagesOfMembersBeforeTheCommunicator(t *testing.T) {
	pe, _, _ := besieged(t)
	early := header{kind: frameEager, flags: flagCounted, context: 8}
	require.NoError(t, pe.rails[0].Deliver(early.bytes(), []byte("early")))
	require.Equal(t, 1, pe.holds.contexts)
	c, err := pe.pml.newContext(8, ConsecutiveGroup(0, 2), false)
	require.NoError(t, err)
	require.Zero(t, pe.holds)
	buf := make([]byte, 5)
	op, err := c.irecv(buf, nil, AnySource, AnyTag)
	require.NoError(t, err)
	require.True(t, op.done)
	assert.Equal(t, Status{Source: 1, Count: 5}, op.status)
}

// A context that is freed takes along what it knows of numbers to come.
func TestNumbersAheadInAFreedContext(t *testing.T) {
	pe, _, _ := besieged(t)
	for n := range uint32(40) {
		id := uint64(100 + n)
		c, err := pe.pml.newContext(id, ConsecutiveGroup(0, 2), false)
		require.NoError(t, err)
		ahead := header{kind: frameVoid, flags: flagCounted, frame: n, laneSeq: n, context: id, seq: 1}
		require.NoError(t, pe.rails[0].Deliver(ahead.bytes(), nil))
		c.free()
	}
}

// A sender keeps to the bounds that its peers have: it holds back what would go beyond
// them, and sends it when there is room.
func TestSenderKeepsToTheBounds(t *testing.T) {
	for _, size := range []int{10, 1000, 5000} { // alone in a frame, in a copy, by request
		pe, ep, c := besieged(t)
		r := pe.rails[0]
		pe.pml.tune.copyLimit, pe.pml.tune.copyPool = 4096, 1<<20
		pe.credit.Open(1 << 20)
		r.attr = btl.Attr{EagerLimit: 1024, MaxFrame: 1024, Reliable: true}
		var sends []*operation
		for range 5 {
			if size <= shortLimit && c.sendShort(make([]byte, size), 1, 3) {
				continue
			}
			op, err := c.isend(make([]byte, size), nil, 1, 3, Standard)
			require.NoError(t, err)
			sends = append(sends, op)
		}
		require.LessOrEqual(t, pe.sent.outstanding(), 5)
		for range 4 { // long ones are held back, and so are their pieces
			if op, err := c.isend(make([]byte, 5000), nil, 1, 3, Standard); err == nil {
				sends = append(sends, op)
			} else {
				require.ErrorIs(t, err, ErrSends)
				require.ErrorContains(t, err, "send to rank 1: too many sends to one rank are under way: 5 are not complete")
			}
		}
		require.LessOrEqual(t, pe.sends, 5)
		answered := 0
		for range 100 {
			require.LessOrEqual(t, pe.sent.outstanding(), 5)
			ack := header{kind: frameAck, ack: pe.sent.next, credit: 1 << 20}
			require.NoError(t, r.Deliver(ack.bytes(), nil))
			for _, h := range ep.sent[answered:] {
				if h.kind == frameRequest {
					clear := header{kind: frameClear, flags: flagCounted, frame: pe.received.next, ack: pe.sent.next, credit: 1 << 20,
						handle: h.handle, accept: h.size, remote: 1}
					answered = len(ep.sent)
					require.NoError(t, r.Deliver(clear.bytes(), nil))
				}
			}
		}
		for _, op := range sends {
			require.True(t, op == nil || op.done, "%d bytes", size)
		}
	}
}

// A message that was received before older ones, into a context that is freed then, may be
// given back all the same.
func TestGivenBackToAFreedContext(t *testing.T) {
	pe, _, _ := besieged(t)
	c, err := pe.pml.newContext(8, ConsecutiveGroup(0, 2), false)
	require.NoError(t, err)
	op, err := c.irecv(make([]byte, 100), nil, 1, 3)
	require.NoError(t, err)
	early := request(0, 100)
	early.context, early.tag, early.seq = 8, 3, 1 // an older one of another lane is missing
	require.NoError(t, pe.rails[0].Deliver(early.bytes(), nil))
	require.NotNil(t, op.in)
	c.free()
	leaveCall(op)
	require.Zero(t, pe.holds)
}
