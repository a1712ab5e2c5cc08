package match

import (
	"maps"
	"slices"
)

// A Lane is one lane from one peer: its numbers count the messages of all
// contexts whose tags fall on it. The zero value is ready, and bounds nothing.
type Lane struct{ order }

// NewLane returns a lane from a sender.
func NewLane(from *Sender) *Lane { return &Lane{order{sender: from}} }

// A Channel is what one context hears from one sender.
type Channel struct {
	order
	context *Context
	source  int32
	waiting messageQueue // for a receive of any tag
}

// Stats counts what is of interest to tests and reports.
type Stats struct {
	Held       uint64 // messages held, when they became ready, for a receive of any tag
	Released   uint64 // of these, those matched before they were seq-ready, since that receive was gone
	Overtaken  uint64 // messages matched while an older one was still missing
	Unexpected uint64 // messages that found no receive when they became ready
}

// A Context matches the messages of one communicator context.
type Context struct {
	// Matched is called for each match made by Arrive, Cancel or Relax, in
	// order. It must not call back into the package.
	Matched func(*Recv, *Message)
	// Stats may be read at any time.
	Stats Stats

	relaxed  bool
	unwanted func(*Message) // takes what finds no receive, once nobody receives
	channels map[int32]*Channel
	last     *Channel // the one that Channel or Open returned last
	hasher   hasher
	receives table[Recv]
	recent   recent
	posted   [kinds]int     // number of posted receives by kind
	messages table[Message] // by tag, and source or any
	queue    messageQueue   // for a receive of any source and tag
	tagOnly  *Message       // the head of a list: see the constant
	waiting  int            // number of messages in lists
	place    uint64
	clock    uint64
	version  uint64 // changes when a probe may see something new

	inSeq, inLane []*Message // memory of settleGaps, kept for its next call
}

// NewContext returns an empty context.
func NewContext(matched func(*Recv, *Message)) *Context {
	return &Context{
		Matched:  matched,
		channels: make(map[int32]*Channel),
		hasher:   newHasher(),
		receives: newTable[Recv](),
		messages: newTable[Message](),
		queue:    messageQueue{kind: ofAnySource},
	}
}

// Channel returns the channel from a sender, or nil if there is none yet.
func (c *Context) Channel(source int32) *Channel {
	ch := c.last
	if ch != nil && ch.source == source {
		return ch
	}
	if ch = c.channels[source]; ch != nil {
		c.last = ch
	}
	return ch
}

// Open makes the channel from a sender, which has none yet.
func (c *Context) Open(source int32, from *Sender) *Channel {
	ch := &Channel{context: c, source: source, order: order{sender: from}}
	c.channels[source] = ch
	c.last = ch
	return ch
}

// Sources are the senders that there are channels from.
func (c *Context) Sources() []int32 { return slices.Collect(maps.Keys(c.channels)) }

// Version changes whenever a message has become visible to probes.
func (c *Context) Version() uint64 { return c.version }

// Arrive takes a message that has arrived over the channel's lane. An error
// means that its numbers were used before; the message is then not taken.
func (ch *Channel) Arrive(lane *Lane, m *Message) error {
	if err := ch.withinLimits(m.Seq); err != nil {
		return err
	}
	if err := lane.withinLimits(m.LaneSeq); err != nil {
		return err
	}
	m.Source, m.channel, m.lane = ch.source, ch, lane
	m.state = state{}
	ch.settle(lane, m)
	return nil
}

// Pass notes a number of the lane whose message belongs to a context that is no more. The
// caller drops that message. Messages of other contexts that waited for the number become
// ready.
func (l *Lane) Pass(laneSeq uint32) error {
	if err := l.withinLimits(laneSeq); err != nil {
		return err
	}
	if l.arrive(laneSeq, nil) && len(l.early) > 0 {
		examineNext(l.advance(nil, nil))
	}
	return nil
}

// settle enters a message's numbers and then examines every message that has
// become readier by it.
func (ch *Channel) settle(lane *Lane, m *Message) {
	c := ch.context
	nextInSeq := ch.arrive(m.Seq, m)
	nextInLane := lane.arrive(m.LaneSeq, m)
	if nextInSeq && nextInLane && len(ch.early) == 0 && len(lane.early) == 0 {
		m.inSeq, m.inLane, m.seqReady, m.tagReady = true, true, true, true
		if c.examine(m) {
			c.reexamine()
		}
		return
	}
	c.settleGaps(ch, lane, m, nextInSeq, nextInLane)
}

// settleGaps is settle where numbers are, or were, missing. It examines three
// groups, in this order: the messages that are seq-ready now, in seq order;
// those that were held by a receive for any tag which one of the first group
// has matched; and those that are only next in their lane. The last are younger
// than all messages of the same tag in the groups before.
func (c *Context) settleGaps(ch *Channel, lane *Lane, m *Message, nextInSeq, nextInLane bool) {
	if nextInSeq {
		c.inSeq = ch.advance(c.inSeq, m)
	}
	if nextInLane {
		c.inLane = lane.advance(c.inLane, m)
	}
	for _, m := range c.inLane {
		m.inLane = true
	}
	released := false
	for _, m := range c.inSeq {
		m.inSeq = true
		if !m.seqReady { // else it was ready out of order, by relaxed ordering
			m.seqReady, m.tagReady = true, true
			released = c.examine(m) || released
		}
	}
	if released {
		c.reexamine()
	}
	examineNext(c.inLane)
	clear(c.inSeq)
	clear(c.inLane)
	c.inSeq, c.inLane = c.inSeq[:0], c.inLane[:0]
}

// examineNext examines messages that have become next in their lane, unless
// they were ready before. They may be of any context.
func examineNext(next []*Message) {
	for _, m := range next {
		if m.inLane = true; !m.tagReady {
			owner := m.channel.context
			m.tagReady, m.seqReady = true, owner.relaxed
			owner.examine(m)
		}
	}
}

// examine is the rule. It decides what becomes of a message that has become
// tag-ready or seq-ready: it matches the first receive that fits it, unless that
// names any tag and the message is not seq-ready. It reports whether a receive
// for any tag is gone, so that messages held by it must be examined again.
func (c *Context) examine(m *Message) (released bool) {
	now := c.now()
	if m.tagAt == 0 {
		m.tagAt = now
	}
	if m.seqReady {
		m.seqAt = now
	}
	r, s := c.firstFit(m.Source, m.Tag)
	switch {
	case r == nil && c.unwanted != nil:
		c.take(m)
		c.unwanted(m)
		return false
	case r == nil:
		c.list(m)
		c.version++
		return false
	case r.Tag == Any && !m.seqReady:
		c.list(m)
		m.held = true
		c.Stats.Held++
		return false
	}
	c.match(r, s, m)
	return r.Tag == Any
}

// now counts what becomes ready.
func (c *Context) now() uint64 {
	c.clock++
	return c.clock
}

func (c *Context) match(r *Recv, s *slot[Recv], m *Message) {
	c.unpost(r, s)
	c.take(m)
	c.Matched(r, m)
}

// firstFit returns the first receive, in posting order, that fits a message from
// that source with that tag, and the slot of its list.
func (c *Context) firstFit(from, with int32) (first *Recv, in *slot[Recv]) {
	for kind, n := range c.posted {
		if n == 0 {
			continue
		}
		source, tag := from, with
		if kind&anySource != 0 {
			source = Any
		}
		if kind&anyTag != 0 {
			tag = Any
		}
		s := c.receives.find(c.hasher.hash(source, tag))
		if r := s.head; r != nil && (first == nil || r.place < first.place) {
			first, in = r, s
		}
	}
	return first, in
}

// list enters a message into the lists of the kinds of receive that it is ready
// for, where it is not yet.
func (c *Context) list(m *Message) {
	if !m.listed {
		m.listed = true
		c.waiting++
		c.Stats.Unexpected++
		c.enlist(m, ofItsSource, c.hasher.hash(m.Source, m.Tag))
		c.enlist(m, ofAnySource, c.hasher.hash(Any, m.Tag))
	}
	if !m.seqReady {
		c.tagOnly = appendMessage(c.tagOnly, m, tagOnly)
		m.tagOnly = true
		return
	}
	c.noLongerTagOnly(m)
	m.queued = true
	m.channel.waiting.append(m)
	c.queue.append(m)
}

func (c *Context) enlist(m *Message, list int, hash uint64) {
	s := c.messages.get(hash)
	s.head = appendMessage(s.head, m, list)
}

// take removes a message from all lists and leaves its numbers behind.
func (c *Context) take(m *Message) {
	if m.listed {
		m.listed = false
		c.waiting--
		c.delist(m, ofItsSource, c.hasher.hash(m.Source, m.Tag))
		c.delist(m, ofAnySource, c.hasher.hash(Any, m.Tag))
		if c.waiting == 0 {
			c.messages.rest()
		}
	}
	if m.queued {
		m.queued = false
		m.channel.waiting.remove(m)
		c.queue.remove(m)
	}
	c.noLongerTagOnly(m)
	if m.held && !m.seqReady {
		c.Stats.Released++
	}
	if !m.inSeq {
		c.Stats.Overtaken++
		m.channel.forget(m.Seq)
	}
	if !m.inLane {
		m.lane.forget(m.LaneSeq)
	}
}

func (c *Context) delist(m *Message, list int, hash uint64) {
	s := c.messages.find(hash)
	s.head = removeMessage(s.head, m, list)
}

func (c *Context) noLongerTagOnly(m *Message) {
	if m.tagOnly {
		m.tagOnly = false
		c.tagOnly = removeMessage(c.tagOnly, m, tagOnly)
	}
}

// reexamine looks again at the messages that a receive for any tag, now gone,
// may have held.
func (c *Context) reexamine() {
	if c.tagOnly == nil {
		return
	}
	c.version++
	if c.posted[exact]+c.posted[anySource] == 0 {
		return // nothing is posted that they might match
	}
	for m := c.tagOnly; m != nil; {
		next := m.links[tagOnly].next
		if r, s := c.firstFit(m.Source, m.Tag); r != nil && r.Tag != Any {
			c.match(r, s, m)
		}
		m = next
	}
}
