package pml

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/test/wirepage"
	"github.com/strandmp/strand/pml/credit"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/wire"
)

// besieged is receiving, with bounds that a test can reach.
func besieged(t *testing.T) (*peer, *scripted, *Context) {
	pe, ep, c := receiving(t)
	pe.pml.bounds = bounds{sends: 5, frames: 5, contexts: 5, gaps: 5}
	pe.numbers.Limit, pe.sent.Most = 10, 5
	pe.received.MaxUnfinished, pe.received.MaxGaps = 5, 5
	return pe, ep, c
}

// docs/WIRE.md states the bounds that the code has.
func TestBoundsOnTheWirePage(t *testing.T) {
	page, b := wirepage.Text(t), ordinary
	for what, bound := range map[string]string{
		"sends to one process that are not complete; so requests of one that wait for receives":                wirepage.Power(b.sends),
		"frames from the lowest that is not acknowledged to the last with a message, or a piece of one":        wirepage.Power(b.frames),
		"gaps in all frames that arrive in parts":                                                              wirepage.Power(b.gaps),
		"communicators that a process has sent to, and that its receiver has not made yet":                     wirepage.Power(b.contexts) + " contexts",
		"credit that is granted and not used":                                                                  wirepage.Power(credit.Most) + " units, 1 GB",
		"messages that are here before older ones of their sender or their lane":                               "2 × " + wirepage.Power(b.frames),
		"frames that have begun to arrive in parts; frames that have arrived of a message that was given back": wirepage.Power(b.frames) + " each",
	} {
		assert.Contains(t, page, "\n| "+what+" | "+bound+" |")
	}
	pe, _, _ := receiving(t)
	assert.Equal(t, 2*b.frames, int(pe.numbers.Limit))
	assert.Equal(t, b.frames, int(pe.sent.Most))
	assert.Equal(t, b.frames, int(pe.received.MaxUnfinished))
	assert.Equal(t, b.gaps, int(pe.received.MaxGaps))
}

// What a peer that has gone mad can have us keep, beside what its credit pays for, has an end.
func TestNobodyHasUsKeepMoreAndMore(t *testing.T) {
	counted := func(kind wire.Kind, n uint32) wire.Header {
		return wire.Header{Kind: kind, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n}
	}
	for _, c := range []struct {
		name  string
		frame func(n uint32) (wire.Header, int)
		says  string
	}{
		{"contexts by messages", func(n uint32) (wire.Header, int) {
			h := counted(wire.Eager, n)
			h.Context, h.Seq = uint64(100+n), 0
			return h, 0
		}, "so are 5 others"},
		{"contexts by requests", func(n uint32) (wire.Header, int) {
			h := request(n, 100)
			h.Context, h.Seq = uint64(100+n), 0
			return h, 0
		}, "so are 5 others"},
		{"requests", func(n uint32) (wire.Header, int) { return request(n, 1), 0 }, "6 requests to send wait"},
		{"requests with a piece", func(n uint32) (wire.Header, int) { return request(n, 100), 1 }, "6 requests to send wait"},
		{"numbers far ahead", func(n uint32) (wire.Header, int) {
			h := counted(wire.Eager, n)
			h.Seq += 1000
			return h, 0
		}, "others are ahead of what is missing"},
		{"numbers far ahead in a lane", func(n uint32) (wire.Header, int) {
			h := counted(wire.Eager, n)
			h.LaneSeq += 1000
			return h, 0
		}, "others are ahead of what is missing"},
		{"numbers far ahead in many lanes", func(n uint32) (wire.Header, int) {
			h := counted(wire.Eager, n)
			h.Lane, h.LaneSeq = uint16(n), 1
			return h, 0
		}, "others are ahead of what is missing"},
		{"frames that are never whole", func(n uint32) (wire.Header, int) { return partOf(counted(wire.Eager, n), 0, 2), 1 }, "so have 5 others"},
		{"gaps within a frame", func(n uint32) (wire.Header, int) { return partOf(counted(wire.Eager, 0), 2*n, 1000), 1 }, "more than 5 gaps"},
		{"gaps within frames", func(n uint32) (wire.Header, int) { return partOf(counted(wire.Eager, n%3), 2*(n/3), 1000), 1 }, "more than 5 gaps"},
		{"a grant beyond all", func(n uint32) (wire.Header, int) { return wire.Header{Kind: wire.Ack, Credit: n << 22}, 0 }, "a grant of"},
		{"frames without a number", func(uint32) (wire.Header, int) { return wire.Header{Kind: wire.Eager}, 0 }, "frame type 1 without a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			pe, _, _ := besieged(t)
			var err error
			for n := uint32(0); err == nil && n < 100; n++ {
				h, size := c.frame(n)
				err = pe.rails[0].Deliver(encoded(h), make([]byte, size))
			}
			require.ErrorContains(t, err, c.says)
			require.ErrorContains(t, err, "from rank 1: ")
			assert.LessOrEqual(t, len(pe.pml.contexts), 1+5)
			assert.LessOrEqual(t, pe.holds.requests, 5)
			assert.LessOrEqual(t, pe.received.Gaps(), 6)
		})
	}
}

// What comes for a message that was given back is kept until its sender knows.
func TestNumbersOfAMessageThatWasGivenBack(t *testing.T) {
	pe, ep, c := besieged(t)
	op := post(t, c, make([]byte, 100))
	require.NoError(t, pe.rails[0].Deliver(encoded(request(0, 100)), nil))
	handle := lastOf(t, ep, wire.Clear).Remote
	ep.result = btl.Busy // it does not hear of it
	leaveCall(op)
	var err error
	for n := uint32(1); err == nil && n < 100; n++ {
		data := wire.Header{Kind: wire.Data, Flags: wire.FlagCounted, Frame: n, Handle: handle}
		err = pe.rails[0].Deliver(encoded(data), make([]byte, 1))
	}
	require.ErrorContains(t, err, "of a message that was given back, and so were 5 others")
}

// A message of a process that is no member of the communicator is damage, whichever is
// first, the message or the communicator.
func TestMessageOfNoMember(t *testing.T) {
	stranger := NewGroup([]int32{0, 2})
	for name, message := range map[string]wire.Header{
		"eager":   {Kind: wire.Eager, Flags: wire.FlagCounted, Context: 8},
		"request": {Kind: wire.Request, Flags: wire.FlagCounted, Context: 8, Size: 100},
		"ahead":   {Kind: wire.Eager, Flags: wire.FlagCounted, Context: 8, Seq: 1, LaneSeq: 1},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, _ := receiving(t)
			c, err := pe.pml.newContext(8, stranger, Manner{})
			require.NoError(t, err)
			op, err := c.irecv(make([]byte, 10), nil, AnySource, AnyTag)
			require.NoError(t, err)
			err = pe.rails[0].Deliver(encoded(message), nil)
			require.ErrorContains(t, err, "from rank 1: message for communicator 0x8, of which rank 1 is no member")
			assert.False(t, op.done, "nobody has received it")
		})
		for _, state := range []string{"here", "arriving"} {
			size := 0
			if state == "arriving" {
				size = 10
			}
			t.Run(name+", before the communicator, "+state, func(t *testing.T) {
				pe, _, first := receiving(t)
				r := pe.rails[0]
				posted := post(t, first, make([]byte, 10))
				var l *btl.Landing
				var err error
				if size == 0 {
					require.NoError(t, r.Deliver(encoded(message), nil))
				} else {
					l, err = r.Begin(encoded(message), size)
					require.NoError(t, err)
				}
				c, err := pe.pml.newContext(8, stranger, Manner{})
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
					assert.Empty(t, pe.received.AllUnfinished())
				}
			})
		}
	}
}

// Members that were ahead are none the worse for it.
func TestMessagesOfMembersBeforeTheCommunicator(t *testing.T) {
	pe, _, _ := besieged(t)
	early := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: 8}
	require.NoError(t, pe.rails[0].Deliver(encoded(early), []byte("early")))
	require.Equal(t, 1, pe.holds.contexts)
	c, err := pe.pml.newContext(8, ConsecutiveGroup(0, 2), Manner{})
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
		c, err := pe.pml.newContext(id, ConsecutiveGroup(0, 2), Manner{})
		require.NoError(t, err)
		ahead := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: n, LaneSeq: n, Context: id, Seq: 1}
		require.NoError(t, pe.rails[0].Deliver(encoded(ahead), nil))
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
			if c.sendShort(make([]byte, size), 1, 3) {
				continue
			}
			op, err := c.isend(make([]byte, size), nil, 1, 3, Standard)
			require.NoError(t, err)
			sends = append(sends, op)
		}
		require.LessOrEqual(t, pe.sent.Outstanding(), 5)
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
			require.LessOrEqual(t, pe.sent.Outstanding(), 5)
			ack := wire.Header{Kind: wire.Ack, Ack: pe.sent.Next(), Credit: 1 << 20}
			require.NoError(t, r.Deliver(encoded(ack), nil))
			for _, h := range ep.sent[answered:] {
				if h.Kind == wire.Request {
					clear := wire.Header{Kind: wire.Clear, Flags: wire.FlagCounted, Frame: pe.received.Next(), Ack: pe.sent.Next(), Credit: 1 << 20,
						Handle: h.Handle, Accept: h.Size, Remote: 1}
					answered = len(ep.sent)
					require.NoError(t, r.Deliver(encoded(clear), nil))
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
	c, err := pe.pml.newContext(8, ConsecutiveGroup(0, 2), Manner{})
	require.NoError(t, err)
	op, err := c.irecv(make([]byte, 100), nil, 1, 3)
	require.NoError(t, err)
	early := request(0, 100)
	early.Context, early.Tag, early.Seq = 8, 3, 1 // an older one of another lane is missing
	require.NoError(t, pe.rails[0].Deliver(encoded(early), nil))
	require.NotNil(t, op.in)
	c.free()
	leaveCall(op)
	require.Zero(t, pe.holds)
}

// At worst every second frame of a window has come, as where one of two networks has stood still.
func TestEverySecondFrameMayBeMissing(t *testing.T) {
	pe, _ := connected(t)
	for n := 1; n < pe.sent.Most; n += 2 {
		require.NoError(t, pe.arrived(uint32(n), true, false))
	}
}
