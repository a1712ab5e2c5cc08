package match

// Expect is Arrive for the common case: the message is next among those of its
// sender and in its lane, no number is missing, and a receive waits for it. Then
// Expect takes the receive, notes the numbers and returns it; Matched is not
// called and there need be no Message. In any other case it returns nil, nothing
// has changed, and Arrive decides.
func (ch *Channel) Expect(lane *Lane, seq, laneSeq uint32, tag int32) *Recv {
	c := ch.context
	if !ch.isNext(lane, seq, laneSeq) {
		return nil
	}
	r, s := c.fit(ch.source, tag)
	if r == nil {
		return nil
	}
	c.unpost(r, s)
	ch.next++
	lane.next++
	return r
}

// fit is firstFit, and quicker where no receive with a wildcard is posted.
func (c *Context) fit(source, tag int32) (*Recv, *slot[Recv]) {
	if c.posted[anyTag]+c.posted[anySource]+c.posted[anyBoth] > 0 {
		return c.firstFit(source, tag)
	}
	s := c.recent.find(source, tag)
	if s == nil {
		s = c.receives.find(c.hasher.hash(source, tag))
	}
	return s.head, s
}

// Pass is Expect for a message whose receiver looks for it by itself, and has posted nothing. It notes the
// numbers, and reports true if no message waits in the context, and no receive that was posted before is for this one.
func (ch *Channel) Pass(lane *Lane, seq, laneSeq uint32, tag int32) bool {
	c := ch.context
	if !ch.isNext(lane, seq, laneSeq) || c.waiting > 0 {
		return false
	}
	if c.posted != [kinds]int{} {
		if r, _ := c.fit(ch.source, tag); r != nil {
			return false
		}
	}
	ch.next++
	lane.next++
	return true
}

// Waiting reports whether a message waits for a receive.
func (c *Context) Waiting() bool { return c.waiting > 0 }

// isNext reports whether a message is next among those of its sender and in its lane, and none is missing.
func (ch *Channel) isNext(lane *Lane, seq, laneSeq uint32) bool {
	return seq == ch.next && laneSeq == lane.next && len(ch.early) == 0 && len(lane.early) == 0 && ch.context.tagOnly == nil
}
