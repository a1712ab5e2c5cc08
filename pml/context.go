package pml

import (
	"fmt"
	"sync/atomic"

	"github.com/strandmp/strand/pml/lanes"
	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/wire"
)

// A Context is the message layer's side of a communicator: messages of different
// contexts never match.
type Context struct {
	pml            *PML
	id             uint64
	group          *Group // nil until the communicator is made here too
	opener         *peer  // whose message was the first for it, until then
	match          *match.Context
	channels       map[int]*channel // by world rank, of ranks that were sent to
	near           [16]*channel     // of them, by the last bits of the rank, the last used
	urgent         bool
	freed          bool
	over           atomic.Bool // freed, for who has not the lock
	revoked        error       // why nothing is started any more, though it is not freed
	sought         bool        // contact is made for receives from any source
	company        company
	gone           int   // members that have left
	unacknowledged error // a member has failed, or all others have left, and nobody has taken note
}

// channel is what a context sends to one peer.
type channel struct {
	peer   *peer
	seq    uint32
	urgent bool
	lanes  lanes.Channel
}

// lane is the lane of the next message with a tag.
func (ch *channel) lane(tag int32) uint16 {
	if lane, last := ch.lanes.Last(tag); last {
		return lane
	}
	pe := ch.peer
	if ch.urgent {
		return pe.pml.urgentLane()
	}
	return ch.lanes.Lane(tag, &pe.spread, pe.hasAll())
}

// hasAll reports whether the peer is known to have everything that was sent to it until now. That may be still to be noted.
func (pe *peer) hasAll() bool {
	return pe.sends == 0 && (pe.sent.Empty() || pe.pml.late == pe && pe.lateAck == pe.sent.Next())
}

// ContextID is the id of the communicator that the process of a world rank named
// its counter'th.
func ContextID(leader int, counter uint32) uint64 {
	return uint64(uint32(leader))<<32 | uint64(counter)
}

// A Manner is how the messages of a context are treated.
type Manner struct {
	Relaxed bool // a receive for any tag takes what has arrived first
	Urgent  bool // messages overtake those of contexts that are not urgent
}

// NewContext makes, or finds if messages came early, the context of an id. All
// members of the group do so with the same id and manner.
func (p *PML) NewContext(id uint64, group *Group, m Manner) (*Context, error) {
	p.engine.Lock()
	defer p.engine.Unlock()
	return p.newContext(id, group, m)
}

// newContext is NewContext with the lock held.
func (p *PML) newContext(id uint64, group *Group, m Manner) (*Context, error) {
	if p.closing {
		return nil, ErrClosed
	}
	c := p.contextOf(id)
	if c.group != nil || c.freed {
		return nil, fmt.Errorf("context %#x exists already", id)
	}
	c.settleGroup(group)
	for _, pe := range p.peers {
		if pe.failure != nil {
			c.memberLeft(pe)
		}
	}
	if m.Relaxed {
		c.match.Relax()
	}
	if m.Urgent {
		c.urgent = true
		p.expectUrgent()
	}
	return c, nil
}

// known returns the context of an id, or nil if there is none.
func (p *PML) known(id uint64) *Context {
	if c := p.lastContext; c != nil && c.id == id {
		return c
	}
	c := p.contexts[id]
	switch {
	case c != nil:
		p.lastContext = c
	case p.freed.has(id):
		return p.buried
	}
	return c
}

// contextOf returns the context of an id, which it makes if there is none.
func (p *PML) contextOf(id uint64) *Context {
	c := p.known(id)
	if c == nil {
		c = &Context{pml: p, id: id, match: match.NewContext(matched), channels: make(map[int]*channel)}
		p.contexts[id] = c
		p.lastContext = c
		if p.closing {
			c.discard()
		}
	}
	return c
}

// Free ends the context: operations that are under way end with ErrFreed, and
// messages that nobody has received are dropped.
func (c *Context) Free() {
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	c.free()
}

// FreeLocked is Free for who holds the lock.
func (c *Context) FreeLocked() { c.free() }

// free is Free with the lock held.
func (c *Context) free() {
	p := c.pml
	if c.freed {
		return
	}
	c.endReceives(ErrFreed)
	c.freed = true
	c.over.Store(true)
	c.discard()
	p.bury(c)
	p.wakeProbers()
}

// endReceives ends the receives that have no message. Mostly there are none: then the operations, which may be many, are not looked through.
func (c *Context) endReceives(err error) {
	if c.match.Posted() == 0 {
		return
	}
	c.pml.eachOperation(func(op *operation) {
		if op.context == c && !op.isSend && op.recv.Posted() {
			op.abandon(err)
		}
	})
}

// discard drops all messages that wait for a receive, and those still to come.
func (c *Context) discard() {
	c.match.Discard(refuse)
}

func refuse(m *match.Message) { m.Owner.(*inbound).refuse() }

// refuse drops a message that will never be received. Its sender, if it asked, is
// told that nothing is wanted: of a communicator that was freed or revoked that is no error,
// of a world that is being closed it is.
func (in *inbound) refuse() {
	in.answered()
	if in.asked && in.peer.failure == nil {
		h := wire.Header{Kind: wire.Clear, Handle: in.handle, Round: in.round}
		if !in.context.freed && in.context.revoked == nil {
			h.Flags |= wire.FlagRefused
		}
		in.peer.sendControl(&h)
	}
	in.ackNow = in.ackNow || in.asked
	in.unwanted()
}

// Err says why the context takes no operation any more: ErrClosed, ErrFreed, or
// nil if it does.
func (c *Context) Err() error {
	if !c.over.Load() && !c.pml.shut.Load() {
		return nil
	}
	c.pml.engine.Lock()
	defer c.pml.engine.Unlock()
	return c.usable()
}

func (c *Context) usable() error {
	switch {
	case c.pml.closing:
		return ErrClosed
	case c.freed:
		return ErrFreed
	}
	return nil
}

// startable is usable for who would start an operation.
func (c *Context) startable() error {
	if err := c.usable(); err != nil {
		return err
	}
	return c.revoked
}

// channelTo returns the channel to a world rank.
func (c *Context) channelTo(world int) *channel {
	if ch := c.known(world); ch != nil {
		return ch
	}
	ch := &channel{peer: c.pml.peerOf(world), urgent: c.urgent}
	c.channels[world] = ch
	if world == c.pml.rank {
		c.reachesItself()
	}
	return ch
}

// answerLane is the lane of what is answered to messages of the context.
func (c *Context) answerLane() uint16 {
	if c.urgent {
		return c.pml.urgentLane()
	}
	return 0
}

// known returns the channel to a rank, or nil if nothing was sent there yet. Programs that send
// to a few ranks in turn find it at once.
func (c *Context) known(world int) *channel {
	near := &c.near[uint(world)%uint(len(c.near))]
	if ch := *near; ch != nil && ch.peer.rank == world {
		return ch
	}
	ch := c.channels[world]
	if ch != nil {
		*near = ch
	}
	return ch
}

// AcknowledgeFailures lets receives from any source go on without the members
// that have failed until now, and without all others if they have left.
func (c *Context) AcknowledgeFailures() {
	c.pml.engine.Lock()
	c.unacknowledged = nil
	c.pml.engine.Unlock()
}
