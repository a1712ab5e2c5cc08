package pml

import (
	"fmt"

	"github.com/strandmp/strand/pml/match"
)

// bounds limit what one peer can make this process keep beside what its credit pays for. A
// peer that keeps to the protocol stays below them, since its own process has the same
// bounds. A peer that exceeds them is damaged, and fails. docs/WIRE.md, Bounds, derives
// them.
type bounds struct {
	sends    int // that are not complete, to one peer; and requests of one that wait here
	frames   int // numbers from the first that is not acknowledged to the last of a message
	contexts int // that a peer knows of and this process does not yet
	gaps     int // within frames that arrive in parts
}

var ordinary = bounds{sends: 1 << 20, frames: 1 << 18, contexts: 1 << 16, gaps: 1 << 16}

// holdings is what one peer has us keep that the bounds are about.
type holdings struct {
	requests int // that wait for a receive
	contexts int
}

// stretched reports whether the window to the peer is full. Nothing new may follow then:
// the peer would have to remember too much.
func (pe *peer) stretched() bool { return pe.sent.Full() }

// restrain is stretched for who has something that is held back then.
func (pe *peer) restrain() bool {
	pe.restrained = pe.stretched()
	return pe.restrained
}

// crowded says why no other send to the peer can be started.
func (pe *peer) crowded(dst int) error {
	if pe.sends < pe.pml.bounds.sends {
		return nil
	}
	return fmt.Errorf("send to rank %d%s: %w: %d are not complete; wait for some of them first", dst, onHost(pe.host), ErrSends, pe.sends)
}

// asks notes that a request of the peer waits for a receive.
func (in *inbound) asks() error {
	pe := in.peer
	if most := pe.pml.bounds.sends; pe.holds.requests >= most {
		return fmt.Errorf("%d requests to send wait for receives, and no process has more than %d sends under way", pe.holds.requests+1, most)
	}
	in.waitForReceive()
	return nil
}

func (in *inbound) waitForReceive() {
	in.waits = true
	in.peer.holds.requests++
}

// answered notes that a request waits no more.
func (in *inbound) answered() {
	if in.waits {
		in.waits = false
		in.peer.holds.requests--
	}
}

// contextFor returns the context of an id that a message names. One that is not known yet
// is made, and what arrives for it waits: a peer may be ahead of us.
func (p *PML) contextFor(pe *peer, id uint64) (*Context, error) {
	if c := p.known(id); c != nil {
		return c, nil
	}
	if pe.holds.contexts >= p.bounds.contexts {
		return nil, fmt.Errorf("message for communicator %#x, which is not known here; so are %d others that it has sent to", id, pe.holds.contexts)
	}
	c := p.contextOf(id)
	c.opener = pe
	pe.holds.contexts++
	return c, nil
}

// settleGroup makes the group known. Those who have sent to the context before and are no
// members are damaged: what they have sent is dropped.
func (c *Context) settleGroup(g *Group) {
	c.group = g
	if c.opener != nil {
		c.opener.holds.contexts--
		c.opener = nil
	}
	for _, source := range c.match.Sources() {
		if g.Rank(int(source)) >= 0 {
			continue
		}
		pe := c.pml.peers[int(source)]
		c.expel(pe)
		pe.damage(&protocolError{rank: pe.rank, err: c.foreign(pe)})
		pe.proceed()
	}
}

// from returns the channel from a peer. Where there is none yet the peer must be a member
// of the group, if that is known already.
func (c *Context) from(pe *peer) (*match.Channel, error) {
	if ch := c.match.Channel(int32(pe.rank)); ch != nil {
		return ch, nil
	}
	if c.group != nil && c.group.Rank(pe.rank) < 0 {
		return nil, c.foreign(pe)
	}
	return c.match.Open(int32(pe.rank), &pe.numbers), nil
}

func (c *Context) foreign(pe *peer) error {
	return fmt.Errorf("message for communicator %#x, of which rank %d is no member", c.id, pe.rank)
}

// expel drops what a peer has sent to the context.
func (c *Context) expel(pe *peer) {
	c.match.Expel(int32(pe.rank), func(m *match.Message) { m.Owner.(*inbound).unwanted() })
}
