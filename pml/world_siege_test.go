package pml

import (
	"bytes"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/strandmp/strand/btl"
	"github.com/strandmp/strand/internal/engine"
	"github.com/strandmp/strand/pml/delivery"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
	"github.com/strandmp/strand/pml/wire"
)

// A siege is a process with two peers: a hostile one, whose frames of all types come in any
// order over several rails, with fields that are right or nearly so; and an honest one,
// whose messages have to come through whatever the other one does. The process receives,
// probes, sends, leaves receives, frees communicators and makes them; rails break and
// transports hold what they were given for as long as they like.
type siege struct {
	*rapid.T
	p        *PML
	foe      *peer
	gates    []*gate // of the hostile peer's rails
	friend   *peer
	letters  uint32 // that the friend has sent
	contexts []*Context
	next     uint64 // id of the next communicator
	lends    bool   // messages are long enough to lend their buffers
	calls    []*call
	taken    []*inbound // by matched probes
	// What a hostile peer that listens knows.
	frame   uint32            // the next number
	seqs    map[uint64]uint32 // by context
	laneSeq [2]uint32
	handles []uint64 // that were told it
}

// gate is the endpoint of a rail.
type gate struct {
	btl.Endpoint
	*siege
	rail    *rail
	result  btl.Result
	held    []*btl.Frame
	landing *btl.Landing
	kept    [][]byte // payloads that were passed on, if the rail keeps them
}

// call is an operation of the process's own, and its memory.
type call struct {
	op     *operation
	gen    uint32
	buf    []byte
	behind []byte // of the same memory
	after  []byte // the buffer as it was when the operation was done
}

func (g *gate) Send(f *btl.Frame, _ int) btl.Result {
	if g.result == btl.Busy || !g.rail.up() {
		return btl.Busy
	}
	var h wire.Header
	require.NoError(g, h.Decode(f.Header, f.Size))
	switch h.Kind {
	case wire.Request:
		g.handles = append(g.handles, h.Handle)
	case wire.Clear:
		g.handles = append(g.handles, h.Remote)
	}
	g.reads(f)
	if g.result == btl.Taken {
		g.held = append(g.held, f)
	}
	if g.rail.keeper != nil {
		g.kept = append(g.kept, bytes.Clone(f.Payload))
	}
	return g.result
}

// Kept implements [btl.Keeper].
func (g *gate) Kept(*btl.Frame) uint64 { return uint64(len(g.kept) - 1) }

// Again implements [btl.Keeper]. What the peer has read is there no more.
func (g *gate) Again(place uint64, b []byte) bool {
	return !g.one(2, "read") && copy(b, g.kept[place]) == len(b)
}

func (g *gate) Close() error { g.held, g.landing = nil, nil; return nil }
func (g *gate) Abort()       { _ = g.Close() }
func (g *gate) Desc() string { return "gate" }

// Connect implements [btl.Module], as far as it is needed.
func (g *gate) Connect(btl.Peer, btl.Path, btl.Receiver) (btl.Endpoint, error) { return g, nil }

// postern is the module of a gate.
type postern struct {
	btl.Module
	gate *gate
}

func (m postern) Connect(p btl.Peer, path btl.Path, r btl.Receiver) (btl.Endpoint, error) {
	return m.gate.Connect(p, path, r)
}

func newSiege(t *rapid.T, eng *engine.Engine) *siege {
	s := &siege{T: t, next: 4, seqs: make(map[uint64]uint32)}
	s.p = &PML{engine: eng, bounds: bounds{sends: 3, frames: 8, contexts: 3, gaps: 8}, peers: make(map[int]*peer), contexts: make(map[uint64]*Context)}
	s.p.tune = tunables{lanes: 2, creditMax: 1 << 12, copyLimit: 200, copyPool: 2000, eagerMax: 1000, bufferedMax: 1 << 14}
	limits, eager := []int{64, 100, 1000}, 100
	if s.lends = s.one(3, "lends"); s.lends {
		s.p.tune.copyLimit, s.p.tune.copyPool = 1<<13, 1<<15
		limits, eager = []int{1000, 1 << 13}, 1<<13
	}
	s.p.unpromised = 1 << 12
	s.p.host, s.p.scratch, s.p.pool.Limit = &host{pml: s.p}, make([]byte, 64), 1<<20
	s.foe, s.friend = s.join(1), s.join(2)
	for range rapid.IntRange(1, 3).Draw(t, "rails") {
		g := &gate{siege: s, result: btl.Done}
		g.rail = &rail{pml: s.p, peer: s.foe, endpoint: g, module: postern{gate: g}, weight: 1, attr: btl.Attr{
			EagerLimit: eager, MaxFrame: rapid.SampledFrom(limits).Draw(t, "limit"), Reliable: true}}
		g.rail.path.Index = len(s.gates)
		if s.one(2, "keeps") {
			g.rail.keeper = g
		}
		s.gates = append(s.gates, g)
		s.foe.also(g.rail, rails.Up)
	}
	calm := &gate{siege: s, result: btl.Done}
	calm.rail = &rail{pml: s.p, peer: s.friend, endpoint: calm, attr: btl.Attr{EagerLimit: 100, MaxFrame: 1000, Reliable: true}}
	s.friend.also(calm.rail, rails.Up)
	for _, pe := range []*peer{s.foe, s.friend} {
		pe.choosePoller()
	}
	for id, group := range []*Group{ConsecutiveGroup(0, 3), NewGroup([]int32{0, 2}), ConsecutiveGroup(0, 2)} {
		c, err := s.p.newContext(uint64(id), group, Manner{Relaxed: id == 2})
		require.NoError(t, err)
		s.contexts = append(s.contexts, c)
	}
	if s.one(2, "acquainted") {
		s.acquaint()
	}
	return s
}

// acquaint has the hostile peer's first messages be right, so that those that follow may come the short way.
func (s *siege) acquaint() {
	c := s.contexts[0]
	for lane := range uint16(len(s.laneSeq)) {
		op, err := c.irecv(nil, nil, 1, AnyTag)
		require.NoError(s, err)
		h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Lane: lane, Frame: s.frame, Seq: s.frame, Context: c.id, Credit: 1 << 10}
		require.NoError(s, s.gates[0].rail.Deliver(encoded(h), nil))
		require.True(s, op.done)
		s.p.freeOperation(op)
		s.frame++
		s.laneSeq[lane]++
	}
	s.seqs[c.id] = s.frame
}

func (s *siege) join(rank int) *peer {
	pe := s.p.peerOf(rank)
	pe.ways.Stage, pe.ways.Met = rails.Known, true
	pe.credit.Open(1 << 10)
	pe.grant.Open(1 << 8)
	return pe
}

func (s *siege) one(n int, label string) bool { return rapid.IntRange(0, n-1).Draw(s.T, label) == 0 }

// near draws a number that is right, or nearly, or far from it.
func (s *siege) near(right uint32, label string) uint32 {
	switch rapid.IntRange(0, 19).Draw(s.T, label) {
	case 0:
		return right + 1
	case 1:
		return right - 1
	case 2:
		return right + rapid.Uint32Range(2, 40).Draw(s.T, label+" ahead")
	case 3:
		return rapid.Uint32().Draw(s.T, label+" anything")
	}
	return right
}

func (s *siege) handle() uint64 {
	if len(s.handles) == 0 || s.one(10, "guess") {
		return uint64(rapid.Uint32Range(0, 8).Draw(s.T, "handle")) | uint64(rapid.Uint32Range(0, 3).Draw(s.T, "generation"))<<32
	}
	return rapid.SampledFrom(s.handles).Draw(s.T, "handle")
}

// draw is a frame of the hostile peer, and the size of its payload.
func (s *siege) draw() (wire.Header, int) {
	h := wire.Header{
		Kind: wire.Kind(rapid.IntRange(1, int(wire.Kinds)).Draw(s.T, "kind")), Flags: wire.FlagCounted,
		Frame: s.near(s.frame, "frame"), Ack: s.near(s.foe.sent.Next(), "ack"), Credit: s.near(1<<10, "credit"),
		Lane: uint16(rapid.IntRange(0, 1).Draw(s.T, "lane")),
	}
	if h.Kind < wire.Kinds && h.Kind.Unnumbered() {
		h.Flags = 0
	}
	if s.one(12, "flags") {
		h.Flags ^= 1 << rapid.IntRange(0, 7).Draw(s.T, "flag")
	}
	h.Flags |= rapid.SampledFrom([]wire.Flags{0, 0, wire.FlagAckNow}).Draw(s.T, "ack now")
	h.Context = rapid.Uint64Range(0, s.next+2).Draw(s.T, "context")
	if h.Context == 1 && !s.one(20, "foreign") {
		h.Context = 0
	}
	h.Tag = int32(rapid.IntRange(0, 2).Draw(s.T, "tag"))
	h.Seq, h.LaneSeq = s.near(s.seqs[h.Context], "seq"), s.near(s.laneSeq[h.Lane], "lane seq")
	h.Handle, h.Remote = s.handle(), s.handle()
	h.Round = rapid.Uint32Range(0, 2).Draw(s.T, "round")
	h.Offset = uint64(s.near(0, "offset"))
	h.Accept = uint64(s.near(300, "accept"))
	size := rapid.SampledFrom([]int{0, 1, 30, 100, 300}).Draw(s.T, "size")
	h.Size = uint64(size) + uint64(rapid.SampledFrom([]int{0, 0, 1, 300}).Draw(s.T, "more"))
	switch h.Kind {
	case wire.Clear, wire.Goodbye, wire.GoodbyeAck, wire.Broken, wire.Probed, wire.Ack:
		if !s.one(20, "payload") {
			size = 0
		}
	case wire.Data:
		size = max(size, 1)
	}
	if h.Kind == wire.Ack && s.one(3, "ranges") {
		h.Ranges[0], h.NumRanges = wire.Range{First: s.near(s.foe.sent.Next(), "range"), Count: s.near(1, "count")}, 1
	}
	if (h.Kind == wire.Goodbye || h.Kind == wire.GoodbyeAck) && !s.one(10, "goodbye") {
		h.Kind = wire.Ack
	}
	if h.Kind <= wire.Data && h.Kind != wire.Clear && size > 1 && s.one(4, "part") {
		at := rapid.IntRange(0, size-1).Draw(s.T, "at")
		h.Flags |= wire.FlagPart
		h.Part = wire.Part{At: uint32(at), Whole: uint32(size)}
		size = rapid.IntRange(1, size-at).Draw(s.T, "part's size")
	}
	if h.Kind == wire.Broken {
		h.Component = []byte("gate")
	}
	return h, size
}

// attack has a frame arrive, or begin to.
func (s *siege) attack() {
	s.send(s.gate(), s.draw)
}

// send has a frame arrive over a gate, or begin to.
func (s *siege) send(g *gate, draw func() (wire.Header, int)) {
	if !g.rail.up() || g.landing != nil {
		return
	}
	h, size := draw()
	// It knows what it has sent, and mostly goes on from there.
	s.frame = max(s.frame, h.Frame+1)
	if s.frame > 1<<20 {
		s.frame = h.Frame
	}
	if h.Kind == wire.Eager || h.Kind == wire.Request {
		s.seqs[h.Context]++
		s.laneSeq[h.Lane]++
	}
	payload := bytes.Repeat([]byte{0xFF}, size)
	b := encoded(h)
	if s.one(30, "cut short") {
		b = b[:rapid.IntRange(0, len(b)).Draw(s.T, "length")]
	}
	if size == 0 || s.one(2, "whole") {
		g.down(g.rail.Deliver(b, payload))
		return
	}
	l, err := g.rail.Begin(b, size)
	g.landing = l
	g.down(err)
}

// goOn has more of a frame arrive.
func (s *siege) goOn() {
	g := s.gate()
	l := g.landing
	if l == nil {
		return
	}
	if l.Fill(bytes.Repeat([]byte{0xFE}, rapid.IntRange(1, 300).Draw(s.T, "piece"))); l.Left() == 0 {
		g.landing = nil
		g.down(g.rail.End(l))
	}
}

func (s *siege) gate() *gate { return s.gates[rapid.IntRange(0, len(s.gates)-1).Draw(s.T, "gate")] }

// down ends a connection as a transport does, if there is an error.
func (g *gate) down(err error) {
	if err == nil {
		return
	}
	_, damage := errors.AsType[*protocolError](err)
	if l := g.landing; l != nil && g.rail.up() {
		g.landing = nil
		g.rail.Drop(l)
	}
	g.rail.Save()
	g.held = nil
	g.rail.Down(err)
	if damage {
		require.Error(g, g.foe.failure, "who sends nonsense has failed: %v", err)
	}
}

func (s *siege) keep(op *operation, buf, behind []byte, err error) {
	if err == nil && op != nil {
		s.calls = append(s.calls, &call{op: op, gen: op.gen, buf: buf, behind: behind})
	}
}

// context is any but the one that the friend's letters come in.
func (s *siege) context() *Context {
	if i := rapid.IntRange(1, len(s.contexts)-1).Draw(s.T, "of context"); i > 1 {
		return s.contexts[i]
	}
	return s.contexts[0]
}

// act is something that the process does.
func (s *siege) act() {
	c := s.context()
	memory := make([]byte, 400)
	n := rapid.SampledFrom([]int{0, 1, 30, 100, 320}).Draw(s.T, "length")
	buf, behind := memory[:n:n], memory[n:]
	tag := rapid.IntRange(-1, 2).Draw(s.T, "its tag")
	switch rapid.IntRange(0, 12).Draw(s.T, "act") {
	case 0, 1, 2:
		op, err := c.irecv(buf, nil, AnySource, tag)
		s.keep(op, buf, behind, err)
	case 3:
		if foe := c.groupRank(s.foe); foe >= 0 {
			op, err := c.postShort(buf, 0, foe, tag), error(nil)
			if op == nil {
				op, err = c.irecv(buf, nil, foe, tag)
			}
			s.keep(op, buf, behind, err)
		}
	case 4, 5:
		if foe := c.groupRank(s.foe); foe >= 0 {
			if s.lends && s.one(2, "long") {
				buf = make([]byte, copyFirst+1)
			}
			fill(buf, ours)
			if s.one(2, "the short way") && c.sendShort(buf, foe, max(tag, 0)) {
				clear(buf)
				return
			}
			op, err := c.isend(buf, nil, foe, max(tag, 0), Mode(rapid.IntRange(0, 3).Draw(s.T, "mode")))
			s.keep(op, buf, nil, err)
			if op == nil {
				clear(buf)
			}
		}
	case 6:
		if in := c.freedFind(tag); in != nil {
			c.match.Take(&in.Message)
			s.taken = append(s.taken, in)
		}
	case 7:
		if len(s.taken) > 0 {
			m := &Message{in: s.taken[0], context: s.taken[0].context}
			s.taken = s.taken[1:]
			op, err := m.irecv(buf, nil)
			s.keep(op, buf, behind, err)
		}
	case 8:
		s.leave()
	case 9:
		if len(s.contexts) > 3 && s.one(2, "free") {
			s.contexts[len(s.contexts)-1].free()
			s.contexts = s.contexts[:len(s.contexts)-1]
			return
		}
		id := s.next
		s.next++
		made, err := s.p.newContext(id, rapid.SampledFrom([]*Group{ConsecutiveGroup(0, 3), ConsecutiveGroup(0, 2), NewGroup([]int32{0, 2})}).Draw(s.T, "group"), Manner{})
		require.NoError(s, err)
		s.contexts = append(s.contexts, made)
	case 10, 11, 12:
		s.ask()
	}
}

// await is a receive that blocks, in its first moment (Context.recvShort). Anything may arrive then, and mostly does what it is for.
func (s *siege) await() {
	c, tag := s.context(), rapid.IntRange(0, 2).Draw(s.T, "its tag")
	memory := make([]byte, 400)
	n := rapid.SampledFrom([]int{300, 100, 30, 1, 0}).Draw(s.T, "room")
	buf, behind, foe := memory[:n:n], memory[n:], c.groupRank(s.foe)
	if foe < 0 || !c.isCommon(foe, tag) || c.match.Waiting() || s.foe.failure != nil || !s.foe.comesWhole(len(buf)) {
		return
	}
	d := &s.p.direct
	d.context, d.tag, d.buf = c, rapid.SampledFrom([]int32{int32(tag), AnyTag}).Draw(s.T, "wanted tag"), buf
	d.from = rapid.SampledFrom([]*peer{s.foe, nil}).Draw(s.T, "wanted source")
	for range rapid.IntRange(1, 4).Draw(s.T, "polls") {
		if s.one(3, "something else") {
			s.happen()
			continue
		}
		s.send(s.gate(), func() (wire.Header, int) {
			h, size := s.draw()
			if s.one(3, "for it") {
				h = wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Context: c.id, Tag: int32(tag), Lane: h.Lane, Frame: s.foe.received.Next(),
					Seq: h.Seq, LaneSeq: s.laneSeq[h.Lane], Ack: h.Ack, Credit: h.Credit}
				if ch := c.match.Channel(int32(s.foe.rank)); ch != nil && s.one(3, "next") {
					h.Seq = ch.Next()
				}
				size = min(size, len(buf))
			}
			return h, size
		})
	}
	done, n := d.done, d.status.Count
	*d = direct{}
	if done {
		require.LessOrEqual(s, n, len(buf))
		require.Equal(s, n, bytes.Count(buf[:n], []byte{0xFF}))
	}
	require.True(s, bytes.Equal(make([]byte, len(behind)), behind), "written behind a buffer")
	s.calls = append(s.calls, &call{buf: buf, behind: behind, after: bytes.Clone(buf)})
}

// ours is what the process's messages consist of, as long as their buffers are the library's.
const ours = 0xA5

func fill(b []byte, with byte) {
	for i := range b {
		b[i] = with
	}
}

// ask asks for the ends of sends, in one of the ways to do so.
func (s *siege) ask() {
	var reqs []Request
	for _, l := range s.calls {
		if l.op != nil && l.op.gen == l.gen && l.op.isSend && !s.one(3, "not") {
			reqs = append(reqs, Request{l.op, l.gen})
		}
	}
	if len(reqs) == 0 {
		return
	}
	switch rapid.IntRange(0, 3).Draw(s.T, "how") {
	case 0:
		reqs[0].op.claim()
	case 1:
		claimOne(reqs)
	case 2: // waits, and its context ends
		w := s.p.newWaitSet(reqs)
		(*allOver)(w).Done()
		s.p.freeWaitSet(w)
	case 3:
		s.p.leave(reqs[0].op)
	}
}

// lent is what operations lend to frames to the peer. Each lends what only waits to be acknowledged, or copied.
func (s *siege) lent(pe *peer) (n int) {
	s.p.eachOperation(func(op *operation) {
		f := op.lent
		if f == nil || op.peer != pe {
			return
		}
		n += f.Size
		require.Same(s, op, f.op)
		require.Equal(s, 1, op.frames)
		require.NotNil(s, f.copy, "there is room for the copy")
		require.Equal(s, delivery.Unread, f.Fate())
		require.False(s, op.wanted || op.orphan || op.busy)
	})
	return n
}

// reads has the transport look at a frame that it has. Not all are of messages.
func (g *gate) reads(f *btl.Frame) {
	var h wire.Header
	require.NoError(g, h.Decode(f.Header, f.Size))
	if h.Kind != wire.Eager && h.Kind != wire.Request && h.Kind != wire.Data {
		return
	}
	for _, b := range append([][]byte{f.Payload}, f.More...) {
		require.Equal(g, len(b), bytes.Count(b, []byte{ours}), "what is sent was given back before")
	}
}

func (c *Context) groupRank(pe *peer) int { return c.group.Rank(pe.rank) }

// freedFind is find for a context that may be freed.
func (c *Context) freedFind(tag int) *inbound {
	if c.freed {
		return nil
	}
	return c.find(match.Any, tag)
}

// leave ends a call of the process's whose context has ended.
func (s *siege) leave() {
	if len(s.calls) == 0 {
		return
	}
	i := rapid.IntRange(0, len(s.calls)-1).Draw(s.T, "left")
	l := s.calls[i]
	if l.op == nil || l.op.gen != l.gen || l.op.done || l.op.isSend {
		return
	}
	if in := s.p.leave(l.op); in != nil {
		s.p.putBack(in)
	}
	l.op, l.after = nil, bytes.Clone(l.buf) // it is the program's again
}

// write has the friend send a letter, which arrives.
func (s *siege) write() {
	n := s.letters
	s.letters++
	h := wire.Header{Kind: wire.Eager, Flags: wire.FlagCounted, Frame: n, Seq: n, LaneSeq: n, Tag: 1000}
	h.Context = 1
	buf := make([]byte, 4)
	receive := func() *operation {
		op, err := s.contexts[1].irecv(buf, nil, 1, 1000)
		require.NoError(s, err)
		return op
	}
	var op *operation
	first := s.one(2, "receive first")
	if first {
		op = receive()
	}
	content := []byte{byte(n), 1, 2, 3}
	require.NoError(s, s.friend.rails[0].Deliver(encoded(h), content))
	if !first {
		op = receive()
	}
	require.True(s, op.done, "letter %d", n)
	require.NoError(s, op.err)
	require.Equal(s, content, buf)
	s.p.freeOperation(op)
}

// happen is something that a transport does.
func (s *siege) happen() {
	g := s.gate()
	switch rapid.IntRange(0, 6).Draw(s.T, "event") {
	case 0, 1:
		g.result = rapid.SampledFrom([]btl.Result{btl.Done, btl.Taken, btl.Busy}).Draw(s.T, "result")
	case 2:
		if len(g.held) > 0 && g.rail.up() {
			f := g.held[0]
			g.held = g.held[1:]
			g.reads(f)
			g.rail.Released(f)
		}
	case 3:
		if g.rail.up() && g.result != btl.Busy {
			g.rail.Writable()
		}
	case 4:
		s.p.Flush()
		s.p.Progress()
	case 5:
		if g.rail.up() && s.one(3, "breaks") {
			g.down(errors.New("broken"))
		}
	case 6:
		if !g.rail.up() && s.foe.ways.Stage == rails.Known {
			hello, err := (&wire.Hello{Credit: 1 << 10}).Encode()
			require.NoError(s, err)
			g.rail.Up(hello)
		}
	}
}

// check looks whether all is as it has to be.
func (s *siege) check() {
	b, foe := s.p.bounds, s.foe
	require.LessOrEqual(s, foe.holds.requests, b.sends+len(s.calls), "those that were given back are above")
	require.LessOrEqual(s, foe.holds.contexts, b.contexts)
	require.Nil(s, s.contexts[1].match.Channel(1), "it is no member")
	require.LessOrEqual(s, foe.received.Gaps(), b.gaps+1)
	require.GreaterOrEqual(s, min(foe.holds.requests, foe.holds.contexts, foe.received.Gaps()), 0)
	require.LessOrEqual(s, len(foe.received.AllUnfinished()), b.frames+len(s.gates)*len(s.calls)+len(s.gates))
	require.LessOrEqual(s, len(s.p.contexts), len(s.contexts)+b.contexts)
	require.LessOrEqual(s, foe.taking, len(s.calls))
	require.GreaterOrEqual(s, foe.taking, 0)
	for _, q := range []*delivery.Queue{&foe.backlog, &foe.bulk} {
		n := 0
		q.All(func(f *delivery.Frame) bool {
			require.Same(s, foe, frameOf(f).peer, "a frame in a queue is in use")
			n++
			return n <= q.Len()
		})
		require.Equal(s, q.Len(), n)
	}
	foe.sent.Each(func(f *delivery.Frame) {
		require.Same(s, foe, frameOf(f).peer, "a frame in the window, or one that is to go again, is in use")
	})
	for _, g := range s.gates {
		n := 0
		for f := g.rail.line.Newest(); f != nil; f = f.Older() {
			require.True(s, f.Held())
			require.Same(s, foe, frameOf(f).peer)
			n++
		}
		require.Equal(s, len(g.held), n, "the transport has what it has")
	}
	require.Equal(s, s.lent(foe), foe.lent)
	for _, l := range s.calls {
		if l.op != nil && (l.op.gen != l.gen || l.op.done) {
			if l.behind == nil {
				clear(l.buf) // by the program that has sent it
			}
			l.after = bytes.Clone(l.buf)
			if l.op.gen == l.gen {
				s.p.freeOperation(l.op)
			}
			l.op = nil
		}
		if l.op == nil {
			require.True(s, bytes.Equal(l.after, l.buf), "written to after its operation had ended")
		}
		require.True(s, bytes.Equal(make([]byte, len(l.behind)), l.behind), "written behind a buffer")
	}
}

// end is the end of the world: nothing is left.
func (s *siege) end() {
	s.foe.fail(rails.Failed, &PeerFailedError{Rank: 1, Cause: errors.New("the siege is over")})
	for _, g := range s.gates {
		if g.rail.up() { // it has left in order, and now its connections end
			g.down(btl.ErrPeerClosed)
		}
	}
	for _, in := range s.taken {
		in.unwanted()
	}
	for _, c := range s.contexts {
		c.free()
	}
	for _, c := range s.p.contexts {
		c.discard()
	}
	s.check()
	for _, l := range s.calls {
		require.Nil(s, l.op, "every operation with a peer that has failed has ended")
	}
	require.Zero(s, s.foe.holds.requests)
	require.Zero(s, s.foe.received.Gaps())
	require.Empty(s, s.foe.begun)
	require.Empty(s, s.foe.received.AllUnfinished())
	for _, c := range s.p.ops.chunks {
		for i := range c {
			require.True(s, c[i].active || c[i].sending == sending{}, "what a send has is forgotten with it, and a receive touches nothing of it")
		}
	}
	require.Zero(s, s.p.copied, "copies for replay")
	require.Zero(s, s.p.buffered, "buffered sends")
	require.Zero(s, s.foe.taking)
	require.Zero(s, s.foe.sends)
	require.Zero(s, s.foe.lent)
}

// besiege is the property.
func besiege(t *rapid.T) {
	eng, err := engine.New(engine.Options{Simulated: true})
	require.NoError(t, err)
	eng.Lock()
	s := newSiege(t, eng)
	defer func() {
		s.foe.ways.Stage, s.friend.ways.Stage = rails.Failed, rails.Failed
		eng.Unlock()
		eng.Close()
	}()
	for range rapid.IntRange(1, 60).Draw(t, "steps") {
		switch rapid.IntRange(0, 9).Draw(t, "who") {
		case 0, 1, 2:
			s.attack()
		case 3:
			s.await()
		case 4:
			s.goOn()
		case 5, 6:
			s.act()
		case 7:
			s.write()
		default:
			s.happen()
		}
		s.check()
	}
	s.end()
}

// Whatever a hostile peer sends, nothing panics, lists stay whole, memory is bounded and
// given back, and an honest peer's messages arrive.
func TestSiege(t *testing.T) { rapid.Check(t, besiege) }

func FuzzSiege(f *testing.F) { f.Fuzz(rapid.MakeFuzz(besiege)) }
