package match

// Expect is Arrive for the common case: the message is next among those of its
// sender and in its lane, no number is missing, and a receive waits for it. Then
// Expect takes the receive, notes the numbers and returns it; Matched is not
// called and there need be no Message. In any other case it returns nil, nothing
// has changed, and Arrive decides.
func (ch *Channel) Expect(lane *Lane, seq, laneSeq uint32, tag int32) *Recv {
	c := ch.context
	if seq != ch.next || laneSeq != lane.next || len(ch.early) != 0 || len(lane.early) != 0 || c.tagOnly.head != nil {
		return nil
	}
	var r *Recv
	if c.posted[anyTag]+c.posted[anySource]+c.posted[anyBoth] > 0 {
		if r = c.firstFit(ch.source, tag); r == nil {
			return nil
		}
		c.unpost(r)
	} else {
		b := c.table.find(key(ch.source, tag))
		if b == nil || b.posted.head == nil {
			return nil
		}
		r = b.posted.head
		b.posted.remove(r)
		r.posted = false
		c.posted[exact]--
	}
	ch.next++
	lane.next++
	return r
}
