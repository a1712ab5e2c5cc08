package pml

import (
	"slices"
	"time"

	"github.com/strandmp/strand/pml/match"
	"github.com/strandmp/strand/pml/rails"
)

// A process that closes its world tells only the processes that it is connected with. A
// receive from any source may outlast every member that its process has met. The process
// then has to find out about the others: it makes contact with one that it has never met.
// If that one answers, there is somebody to wait for again. If it has gone too, the next
// one is tried, until one answers or all have left. As long as a member that was met
// lives, nobody is sought: that one may be about to send, or to fail.
//
// In a group of two any source is the other one, which is sought as one that is named
// ([Context.prospect]).

// company is what a context knows of members to wait for.
type company struct {
	with *peer // one that is not known to have left
	due  bool  // a look for one is due
	last *peer // that was sought
}

// seekCompany finds out whether any member is left to wait for. Its caller waits for a
// message from any source.
func (c *Context) seekCompany() {
	s := &c.company
	if s.with != nil && s.with.failure == nil {
		return
	}
	p := c.pml
	if s.due || c.group.Size() <= 2 || c.gone == c.group.Size()-1 || c.channels[p.rank] != nil || p.closing {
		return
	}
	if s.with = c.livingMember(); s.with != nil {
		return
	}
	delay := c.patience()
	if delay < 0 {
		return
	}
	s.due = true
	p.engine.After(delay, func() {
		s.due = false
		if !c.freed && !p.closing && c.awaitsAnybody() {
			c.seekMember()
		}
	})
}

// patience is how long to wait before a member is sought; negative is for ever. A process
// that has met nobody may be waiting for the others to begin.
func (c *Context) patience() time.Duration {
	switch timeout := c.pml.tune.peerTimeout; {
	case c.company.last != nil && !c.company.last.ways.Met:
		return 0
	case c.gone > 0:
		return rails.FirstContact
	case timeout > 0:
		return timeout
	}
	return -1
}

// livingMember returns a member that was met, or to which contact is made, and that has
// neither left nor failed; or nil.
func (c *Context) livingMember() *peer {
	for _, pe := range c.pml.peers {
		if (pe.ways.Stage == rails.Known || pe.ways.Stage == rails.Resolving) && !pe.self() && c.group.Rank(pe.rank) >= 0 {
			return pe
		}
	}
	return nil
}

// awaitsAnybody reports whether a call waits for a message from any source.
func (c *Context) awaitsAnybody() bool {
	waits := slices.ContainsFunc(c.pml.probing, func(a *arrival) bool { return a.context == c && a.source == match.Any })
	c.pml.eachOperation(func(op *operation) {
		waits = waits || op.context == c && op.blocked > 0 && op.fromAnybody()
	})
	return waits
}

// seekMember makes contact with a member that was never met, the next in the order of
// ranks, so that not all seek the same one.
func (c *Context) seekMember() {
	if c.livingMember() != nil {
		return
	}
	n, own := c.group.Size(), c.group.Rank(c.pml.rank)
	for i := 1; i < n; i++ {
		pe := c.pml.peerOf(c.group.World((own + i) % n))
		if pe.ways.Stage != rails.New {
			continue
		}
		c.company.last, c.company.with = pe, pe
		pe.stranger = true
		pe.connect()
		return
	}
}

// vanished reports whether the peer was sought only to find out whether it is there, and
// was never met. To receives from any source it counts as one that has left: the launcher
// would have told of its death.
func (pe *peer) vanished() bool { return pe.stranger && !pe.ways.Met && pe.why.doomed == nil }
