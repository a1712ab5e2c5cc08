package pml

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/internal/representation"
	"github.com/strandmp/strand/pml/wire"
)

// timely is an endpoint on which something arrives at a poll.
type timely struct {
	polls, at int
	arrive    func()
}

func (e *timely) Poll() bool {
	if e.polls++; e.polls != e.at {
		return false
	}
	e.arrive()
	return true
}

// A blocking receive needs no operation for a short message that comes in its first moment. Whatever else comes then is kept,
// for the receive that is posted afterwards too.
func TestDirectReceive(t *testing.T) {
	const tag = 5
	for name, test := range map[string]struct {
		at, tag, size int
		asks          bool
		posted        int // 0: nothing
		src, want     int // if not 1 and the tag
		needs         representation.Traits
		done          bool
	}{
		"at once":                         {at: 1, tag: tag, size: 8, done: true},
		"soon":                            {at: 7, tag: tag, size: 8, done: true},
		"shorter than its buffer":         {at: 1, tag: tag, size: 3, done: true},
		"empty":                           {at: 1, tag: tag, done: true},
		"never":                           {tag: tag, size: 8},
		"with another tag":                {at: 2, tag: tag + 1, size: 8},
		"too long for its buffer":         {at: 2, tag: tag, size: 9},
		"whose sender waits for it":       {at: 2, tag: tag, size: 8, asks: true},
		"while another receive is posted": {at: 2, tag: tag, size: 8, posted: tag + 2, done: true},
		"for a receive that is posted":    {at: 2, tag: tag, size: 8, posted: tag},
		"for one with a wildcard":         {at: 2, tag: tag, size: 8, posted: AnyTag},
		"from any source":                 {at: 2, tag: tag, size: 8, src: AnySource, done: true},
		"with any tag":                    {at: 2, tag: tag + 1, size: 8, want: AnyTag, done: true},
		"any message":                     {at: 2, tag: tag + 1, size: 8, src: AnySource, want: AnyTag, done: true},
		"any, of values that are not":     {at: 2, tag: tag, size: 8, src: AnySource, needs: representation.Order},
		"of values that are alike":        {at: 1, tag: tag, size: 8, needs: representation.Words, done: true},
		"of values that are not":          {at: 2, tag: tag, size: 8, needs: representation.Order},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 100)
			p := pe.pml
			p.engine = spinning(t)
			pe.differs = representation.Order
			first := post(t, c, nil) // it makes the peer known
			require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag}), nil))
			p.freeOperation(first)
			var op *operation
			if test.posted != 0 {
				var err error
				op, err = c.irecv(make([]byte, 8), nil, 1, test.posted)
				require.NoError(t, err)
				defer p.leave(op)
			}
			src, want := cmp.Or(test.src, 1), cmp.Or(test.want, tag)
			message := []byte("message!!")[:test.size]
			source := &timely{at: test.at, arrive: func() {
				h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: int32(test.tag), Frame: 1, Seq: 1, LaneSeq: 1}
				body := message
				if test.asks {
					h.Kind, h.Size, h.Handle, body = wire.Request, uint64(test.size), 7, nil
				}
				require.False(t, pe.rails[0].Sated())
				require.NoError(t, pe.rails[0].Deliver(encoded(h), body))
				require.Equal(t, test.done, pe.rails[0].Sated(), "what comes next is for the next call")
			}}
			pe.poller, p.recent, c.sought = source, source, true
			used, buf := p.ops.used, make([]byte, 8)
			st, done := c.recvShort(buf, test.needs, src, want)
			require.Equal(t, test.done, done)
			require.Zero(t, p.direct)
			require.False(t, pe.rails[0].Sated())
			require.Equal(t, used, p.ops.used)
			if done {
				require.Equal(t, Status{Source: 1, Tag: test.tag, Count: test.size}, st)
				require.Equal(t, message, buf[:test.size])
				require.False(t, c.match.Waiting())
				require.True(t, op == nil || !op.done)
				return
			}
			if op != nil {
				require.True(t, op.done)
				return
			}
			came := test.at != 0 && (test.needs == 0 || test.src == AnySource)
			require.Equal(t, came, c.match.Probe(1, int32(test.tag)) != nil)
			if came {
				require.Equal(t, test.at, source.polls, "it is no longer waited for")
			}
		})
	}
}

// spinning is an engine whose waits poll, with its lock taken until the end of the test.
func spinning(t *testing.T) *engine.Engine {
	eng, err := engine.New(engine.Options{Spin: time.Hour})
	require.NoError(t, err)
	t.Cleanup(eng.Close)
	eng.Lock()
	t.Cleanup(eng.Unlock)
	return eng
}

// aside is a move of many bytes, during which others have the lock.
type aside func()

func (aside) Begin(int) bool { return true }
func (a aside) Move()        { a() }
func (aside) End() bool      { return true }

// Another goroutine may receive while bytes are moved without the lock, which a poll has found beside the message. Neither
// takes the other's.
func TestDirectReceiveBesideAMove(t *testing.T) {
	const tag = 5
	pe, _, c := promptPeer(t, 100)
	p := pe.pml
	p.engine = spinning(t)
	first := post(t, c, nil) // it makes the peer known
	require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag}), nil))
	p.freeOperation(first)
	pe.poller = &timely{at: 1, arrive: func() {
		p.engine.Move(aside(func() {
			p.engine.Lock()
			defer p.engine.Unlock()
			_, done := c.recvShort(make([]byte, 8), 0, 1, tag+1)
			require.False(t, done)
		}))
		h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag, Frame: 1, Seq: 1, LaneSeq: 1}
		require.NoError(t, pe.rails[0].Deliver(encoded(h), []byte("message!")))
	}}
	buf := make([]byte, 8)
	st, done := c.recvShort(buf, 0, 1, tag)
	require.True(t, done)
	require.Equal(t, Status{Source: 1, Tag: tag, Count: 8}, st)
	require.Equal(t, "message!", string(buf))
}

// What the message of a blocking receive acknowledges is noted when the program's next send is on its way, or at the next poll: neither waits for that. It is
// noted at once if a send that is under way may wait for it, and whoever looks at what is acknowledged does so before.
func TestAcknowledgementsOfDirectReceives(t *testing.T) {
	const tag = 5
	for name, test := range map[string]struct {
		busy  bool // a send is under way
		later func(t *testing.T, pe *peer, c *Context)
	}{
		"the next send": {later: func(t *testing.T, pe *peer, c *Context) { require.True(t, c.sendShort([]byte{1}, 1, tag)) }},
		"the next poll": {later: func(t *testing.T, pe *peer, c *Context) { require.False(t, pe.pml.Progress()) }},
		"a send with room": {later: func(t *testing.T, pe *peer, c *Context) {
			_, err := c.isend(nil, nil, 1, tag, Standard)
			require.NoError(t, err)
		}},
		"a broken rail": {later: func(t *testing.T, pe *peer, c *Context) { pe.rails[0].Down(btl.ErrPeerClosed) }},
		"at once":       {busy: true},
	} {
		t.Run(name, func(t *testing.T) {
			pe, _, c := promptPeer(t, 100)
			p := pe.pml
			p.engine = spinning(t)
			first := post(t, c, nil) // it makes the peer known
			require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag}), nil))
			p.freeOperation(first)
			_, err := c.isend([]byte{1}, nil, 1, tag, Standard)
			require.NoError(t, err)
			if test.busy {
				_, err = c.isend([]byte{2}, nil, 1, tag, Synchronous)
				require.NoError(t, err)
			}
			pe.poller = &timely{at: 1, arrive: func() {
				h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag, Frame: 1, Seq: 1, LaneSeq: 1, Ack: 1, Credit: 1 << 16}
				require.NoError(t, pe.rails[0].Deliver(encoded(h), []byte("message!")))
			}}
			_, done := c.recvShort(make([]byte, 8), 0, 1, tag)
			require.True(t, done)
			if test.busy {
				require.Equal(t, uint32(1), pe.sent.Base())
				return
			}
			require.Zero(t, pe.sent.Base())
			test.later(t, pe, c)
			require.Equal(t, uint32(1), pe.sent.Base())
			require.Nil(t, p.late)
		})
	}
}

// A peer that acknowledges what was not sent is found out, in a blocking receive too.
func TestDirectReceivesBelieveNoNonsense(t *testing.T) {
	pe, _, c := promptPeer(t, 100)
	pe.pml.engine = spinning(t)
	pe.poller = &timely{at: 1, arrive: func() {
		h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: 5, Ack: 1}
		require.ErrorContains(t, pe.rails[0].Deliver(encoded(h), nil), "acknowledgement up to frame 1")
	}}
	post(t, c, nil)
	_, done := c.recvShort(nil, 0, 1, 5)
	require.False(t, done)
}

// late is a peer that has been sent so many messages, and whose acknowledgements, which came with messages in blocking receives, are still to be noted.
func late(t *testing.T, sent int, acks ...uint32) (*peer, *Context) {
	const tag = 5
	pe, _, c := promptPeer(t, 100)
	p := pe.pml
	p.engine = spinning(t)
	first := post(t, c, nil) // it makes the peer known
	require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag}), nil))
	p.freeOperation(first)
	for range sent {
		_, err := c.isend([]byte{1}, nil, 1, tag, Standard)
		require.NoError(t, err)
	}
	for i, ack := range acks {
		n := uint32(i + 1)
		pe.poller = &timely{at: 1, arrive: func() {
			h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: tag, Frame: n, Seq: n, LaneSeq: n, Ack: ack, Credit: 1 << 16}
			require.NoError(t, pe.rails[0].Deliver(encoded(h), nil))
		}}
		_, done := c.recvShort(nil, 0, 1, tag)
		require.True(t, done)
	}
	require.Zero(t, pe.sent.Base())
	require.Equal(t, pe, p.late)
	return pe, c
}

// Of two acknowledgements that are to be noted the later one counts, though the frame with the older one may be the last to arrive, over another
// rail: perhaps the peer says it no more.
func TestOldAcknowledgementsDoNotReplaceNewOnes(t *testing.T) {
	pe, _ := late(t, 3, 3, 1)
	pe.pml.Progress()
	require.Equal(t, uint32(3), pe.sent.Base())
}

// That an acknowledgement is noted later does not keep a channel from forgetting its tags: a program that sends with a new tag each time, and waits for the
// answer, has its lanes in turn all the same.
func TestTagsAreForgottenBeforeAcknowledgementsAreNoted(t *testing.T) {
	pe, c := late(t, 1, 1)
	require.True(t, pe.hasAll())
	require.True(t, c.sendShort(nil, 1, 6))
	require.False(t, pe.hasAll())

	pe, _ = late(t, 2, 1)
	require.False(t, pe.hasAll())
	pe.pml.Progress()
	require.False(t, pe.hasAll())
}

// Who looks for rails and peers that are silent knows what is acknowledged: a process may have been stopped between the receive and the next poll,
// and timers may run before that.
func TestAcknowledgementsAreNotedBeforeSilenceIsJudged(t *testing.T) {
	for name, judge := range map[string]func(*PML){"rails": (*PML).watch, "peers": (*PML).beat} {
		pe, _ := late(t, 1, 1)
		judge(pe.pml)
		require.Equal(t, uint32(1), pe.sent.Base(), name)
	}
}

// A Sendrecv of short messages sends first, in one step with a receive that needs no operation. It has sent nothing where the one or the other is not
// of the common kind: that receive is posted before.
func TestSendrecvShort(t *testing.T) {
	pe, sent, c := promptPeer(t, 100)
	pe.pml.engine = spinning(t)
	p := pe.pml
	first := post(t, c, nil)
	require.NoError(t, pe.rails[0].Deliver(encoded(wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id}), nil))
	p.freeOperation(first)
	_, err := c.isend(nil, nil, 1, 0, Standard) // from now on the channel is known
	require.NoError(t, err)
	call := func(ctx context.Context, dst, sendTag, src, recvTag int, in []byte) (Status, bool, error) {
		p.engine.Unlock() // which is the test's
		defer p.engine.Lock()
		return c.SendrecvShort(ctx, []byte("out"), dst, sendTag, As{}, in, src, recvTag)
	}
	frames := len(sent.sent)

	buf, used := make([]byte, 8), p.ops.used
	for _, x := range []struct{ dst, src, tag int }{{1, AnySource, 0}, {1, 1, AnyTag}, {1, 9, 0}, {9, 1, 0}} {
		_, done, err := call(t.Context(), x.dst, 0, x.src, x.tag, buf)
		require.NoError(t, err)
		require.False(t, done)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, done, err := call(ended, 1, 0, 1, 0, buf)
	require.True(t, done)
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, sent.sent, frames)

	pe.poller = &timely{at: 3, arrive: func() {
		h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: 6, Frame: 1, Seq: 1, LaneSeq: 1}
		require.NoError(t, pe.rails[0].Deliver(encoded(h), []byte("in")))
	}}
	st, done, err := call(t.Context(), 1, 5, 1, 6, buf)
	require.NoError(t, err)
	require.True(t, done)
	require.Equal(t, Status{Source: 1, Tag: 6, Count: 2}, st)
	require.Equal(t, "in", string(buf[:2]))
	require.Len(t, sent.sent, frames+1)
	require.Equal(t, used, p.ops.used)
}

// A receiver has enough when what was begun to be waited for last has come, and not before all of it has.
func TestSatedWhenAllHasCome(t *testing.T) {
	pe, _, c := promptPeer(t, 100)
	p, r := pe.pml, pe.rails[0]
	p.engine = spinning(t)
	reqs := []Request{requestOf(post(t, c, make([]byte, 8))), requestOf(post(t, c, make([]byte, 8)))}
	var frame uint32
	source := &timely{at: 3}
	source.arrive = func() {
		for i := range reqs {
			require.False(t, r.Sated(), i)
			h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: 5, Frame: frame, Seq: frame, LaneSeq: frame}
			require.NoError(t, r.Deliver(encoded(h), []byte("message!")))
			frame++
		}
		require.True(t, r.Sated())
	}
	pe.poller = source
	p.engine.Unlock() // which is the test's
	_, err := WaitAll(t.Context(), reqs, nil)
	p.engine.Lock()
	require.NoError(t, err)
	require.False(t, r.Sated(), "nobody waits")

	reqs = []Request{requestOf(post(t, c, make([]byte, 8)))}
	source.polls = 0
	p.engine.Unlock()
	_, err = reqs[0].Wait(t.Context())
	p.engine.Lock()
	require.NoError(t, err)
	require.False(t, r.Sated(), "nobody waits")
}
